import { Inject, Module } from '@nestjs/common';
import type {
  DynamicModule,
  FactoryProvider,
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
  Provider,
} from '@nestjs/common';
import { observers, LeaseKeeper } from '@fencepost/lease/internal';
import type { OwnedLeaseStore } from '@fencepost/lease/internal/place';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS, LeaseModule, type LeaseModuleOptions } from '@fencepost/lease/nest';
import type { Ledger } from '@fencepost/ledger';
import type { PostgresLedger } from '@fencepost/ledger/postgres';
import { Leases, type Clock, type LeaseStore } from '@fencepost/lease';
import { cronLeaseEvents, LeaseFeed, leaseWarnings, Telemetry } from '../telemetry/telemetry.js';
import { jobsSettings, type JobsSettings, type Role } from './options.js';
import { optionsProvider, type JobsOptionsSource } from './options-source.js';
import { DefaultLog } from './default-log.js';
import { jobsEnvironment } from './environment.js';
import type { Database } from './postgres-database.js';
import { PodReporting } from './pod-reporting.js';
import { chosenRoles, PodRoles, type ChosenRoles } from './pod-roles.js';
import { RedisPodRegistry } from '../pods/redis-pod-registry.js';
import { commandTimeoutOf, copyOf } from './redis-copy.js';
import { ScriptWatch } from './script-watch.js';
import { SignalDrain } from './signal-drain.js';
import { StoreHealth } from './store-health.js';
import {
  openCatalog,
  openCronLeases,
  openDatabase,
  openLedger,
  openMembership,
  openReadStores,
  type ReadStores,
} from './stores.js';
import {
  CATALOG,
  CHOSEN_ROLES,
  CRON_LEASE_STORE,
  CRON_LEASES,
  DATABASE,
  JOBS_SETTINGS,
  LEDGER,
  LEDGER_REDIS,
  MEMBERSHIP,
  OPENED_CRON_LEASES,
  POD_REGISTRY,
  RANDOM,
  READ_STORES,
  ROLES,
  TRACING,
} from './tokens.js';
import type { Tracing } from '../telemetry/tracing.js';

type Heard = [clock: Clock, feed: LeaseFeed, telemetry: Telemetry];
type Keeping = [store: LeaseStore, own: LeaseKeeper, settings: JobsSettings, ...Heard];

/** The leases on crons: apart from those that the application takes itself, by the same name of this process. */
const cronLeases: FactoryProvider[] = [
  {
    provide: OPENED_CRON_LEASES,
    inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS, ROLES, CLOCK, LeaseFeed, Telemetry],
    useFactory: openCronLeases,
  },
  {
    provide: CRON_LEASE_STORE,
    inject: [OPENED_CRON_LEASES],
    useFactory: ({ store }: OwnedLeaseStore) => store,
  },
  {
    provide: CRON_LEASES,
    inject: [CRON_LEASE_STORE, LeaseKeeper, JOBS_SETTINGS, CLOCK, LeaseFeed, Telemetry],
    useFactory: (...[store, { holder }, { leaseTtlMs: ttl }, clock, feed, telemetry]: Keeping) =>
      new Leases({ store, clock, holder, ttl, observe: cronLeaseEvents(feed, telemetry) }),
  },
];

@Module({})
class JobsSettingsModule {}

/**
 * The settings, and the connection to Redis.
 * @param warnings what the connection logs itself: only its own trouble where the default log has the events
 */
export function connectionModules(
  source: JobsOptionsSource,
  warnings: true | 'connection' = true,
): [settings: DynamicModule, lease: DynamicModule] {
  const settings = settingsModule(source);
  const inject = [JOBS_SETTINGS, LeaseFeed, Telemetry];
  const useFactory = (own: JobsSettings, feed: LeaseFeed, telemetry: Telemetry) => ({
    ...leaseOptions(own, feed, telemetry),
    log: own.log && warnings,
  });
  return [settings, LeaseModule.forRootAsync({ imports: [settings], inject, useFactory })];
}

/** What all processes of a deployment keep together. */
const shared: Provider[] = [
  SignalDrain,
  PodRoles,
  DefaultLog,
  PodReporting,
  ScriptWatch,
  // After the ledger, which makes the tables.
  {
    provide: CATALOG,
    inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS, ROLES, Telemetry, LEDGER],
    useFactory: openCatalog,
  },
  { provide: READ_STORES, inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS, LEDGER], useFactory: openReadStores },
  { provide: MEMBERSHIP, inject: [LEASE_REDIS, CATALOG, JOBS_SETTINGS, CLOCK, Telemetry], useFactory: openMembership },
  { provide: POD_REGISTRY, inject: [LEASE_REDIS, JOBS_SETTINGS], useFactory: openPodRegistry },
];

/** What other modules of this library take from the core. */
const SHARED = [
  ...[CRON_LEASE_STORE, CRON_LEASES, DATABASE, LEDGER, READ_STORES, CATALOG, MEMBERSHIP, POD_REGISTRY, RANDOM, TRACING],
  ...[ROLES, PodReporting, PodRoles, StoreHealth, SignalDrain],
];

/** What both roles share: the settings, one Redis connection, ledger, catalog, membership, and the list of events. */
@Module({})
export class JobsCoreModule
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  @Inject(LEDGER_REDIS) private readonly ledgerRedis!: RedisClient | null;
  @Inject(READ_STORES) private readonly reads!: ReadStores;
  @Inject(OPENED_CRON_LEASES) private readonly opened!: OwnedLeaseStore;
  @Inject(PodReporting) private readonly reporting!: PodReporting;

  constructor(
    @Inject(StoreHealth) private readonly health: StoreHealth,
    @Inject(CRON_LEASES) private readonly leases: Leases,
    @Inject(DATABASE) private readonly database: Database | null,
  ) {}

  static forRootAsync(source: JobsOptionsSource, roles: readonly Role[]): DynamicModule {
    const [settings, lease] = connectionModules(source, 'connection');
    return {
      module: JobsCoreModule,
      imports: [settings, lease],
      providers: [
        { provide: RANDOM, useValue: Math.random },
        { provide: TRACING, inject: [JOBS_SETTINGS, Telemetry], useFactory: openTracing },
        { provide: DATABASE, inject: [JOBS_SETTINGS, Telemetry, CLOCK], useFactory: openDatabase },
        { provide: LEDGER_REDIS, inject: [LEASE_REDIS, JOBS_SETTINGS], useFactory: openWaiting },
        { provide: LEDGER, inject: [LEASE_REDIS, LEDGER_REDIS, DATABASE, JOBS_SETTINGS], useFactory: openLedger },
        {
          provide: StoreHealth,
          inject: [LEASE_REDIS, LEDGER, CRON_LEASE_STORE, JOBS_SETTINGS, ROLES, CLOCK, Telemetry],
          useFactory: healthOf,
        },
        ...cronLeases,
        ...shared,
        { provide: CHOSEN_ROLES, inject: [JOBS_SETTINGS], useFactory: chooseRoles(roles) },
        { provide: ROLES, inject: [CHOSEN_ROLES], useFactory: (chosen: ChosenRoles) => chosen.roles },
      ],
      exports: [settings, lease, ...SHARED],
    };
  }

  onApplicationBootstrap(): void {
    this.health.start();
  }

  onModuleDestroy(): void {
    this.health.stop();
  }

  /** What a pod that could not start still holds; the others have given theirs back. It ends by itself where that fails. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.leases.close().catch(() => {});
  }

  /** The pod is listed until its roles have ended, and leaves before the connections close. */
  async onApplicationShutdown(): Promise<void> {
    await this.reporting.reporter.stop();
    await this.opened.close();
    const connections = [this.reads.redis, this.ledgerRedis].map((redis) => redis && closed(redis));
    await Promise.all([this.database?.close(), ...connections]);
  }
}

function openPodRegistry(redis: RedisClient, { prefix, tenant }: JobsSettings): RedisPodRegistry {
  return new RedisPodRegistry({ redis, prefix, tenant });
}

function chooseRoles(inCode: readonly Role[]): (settings: JobsSettings) => ChosenRoles {
  return ({ enabled }) => {
    const chosen = chosenRoles(inCode, jobsEnvironment());
    return enabled ? chosen : { ...chosen, roles: [], by: 'enabled: false' };
  };
}

/** One that was never opened has nobody to say goodbye to. */
async function closed(redis: RedisClient): Promise<void> {
  if (redis.status === 'wait') redis.disconnect();
  else await closeRedis(redis);
}

/** WAIT holds up its connection, and leases are renewed on the other one. */
function openWaiting(redis: RedisClient, { ledger, waitReplicas }: JobsSettings): RedisClient | null {
  if (ledger !== 'redis' || waitReplicas === 0) return null;
  const commandTimeoutMs = commandTimeoutOf(redis);
  const waiting = copyOf(redis, { name: 'fencepost-ledger', commandTimeoutMs, patienceMs: 2 * commandTimeoutMs });
  // The other connection to the same server reports the error.
  waiting.on('error', () => {});
  return waiting;
}

type Stores = [redis: RedisClient, ledger: Ledger, leases: LeaseStore, settings: JobsSettings];
type Health = [...Stores, roles: readonly Role[], clock: Clock, telemetry: Telemetry];

/** Nobody holds it. */
const PROBED = 'fencepost-health';

function healthOf(...[redis, ledger, store, settings, roles, clock, telemetry]: Health): StoreHealth {
  const postgres = isInPostgres(ledger) ? { postgres: () => ledger.checkSchema() } : {};
  const isApart = settings.leases !== 'redis' && roles.includes('scheduler');
  const leases = isApart ? { leases: () => store.inspect([PROBED]) } : {};
  return new StoreHealth({ ask: { redis: () => redis.ping(), ...postgres, ...leases }, clock, telemetry });
}

function isInPostgres(ledger: Ledger): ledger is PostgresLedger {
  return 'checkSchema' in ledger;
}

function settingsModule(source: JobsOptionsSource): DynamicModule {
  const { inject, useFactory, providers } = optionsProvider(source);
  const make = async (...args: never[]) => jobsSettings(await useFactory(...args));
  return {
    module: JobsSettingsModule,
    imports: source.imports ?? [],
    providers: [Telemetry, LeaseFeed, ...providers, { provide: JOBS_SETTINGS, inject, useFactory: make }],
    exports: [JOBS_SETTINGS, Telemetry, LeaseFeed],
  };
}

function leaseOptions(settings: JobsSettings, feed: LeaseFeed, telemetry: Telemetry): LeaseModuleOptions {
  const { redis, prefix, tenant, leaseTtlMs: ttl, pod } = settings;
  const observe = observers(feed.tell, leaseWarnings(telemetry));
  return { redis, prefix, tenant, ttl, observe, ...(pod === undefined ? {} : { holder: pod }) };
}

/**
 * Loads the packages of tracing only if it is on: they are optional.
 * @throws {SetupError} when they are not installed
 */
async function openTracing({ tracing }: JobsSettings, telemetry: Telemetry): Promise<Tracing | null> {
  if (!tracing) return null;
  const { openTelemetryTracing } = await import('../telemetry/open-telemetry.js');
  return openTelemetryTracing(telemetry);
}
