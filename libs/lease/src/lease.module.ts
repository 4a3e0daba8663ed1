import { ConfigurableModuleBuilder, Inject, Logger, Module } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { systemClock } from './clock.js';
import type { Clock } from './clock.js';
import { processIdentity } from './identity.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { LeaseStore } from './lease-store.js';
import { leaseSettings } from './options.js';
import type { LeaseModuleOptions, LeaseSettings } from './options.js';
import { closeRedis, connectRedis } from './redis-connection.js';
import { RedisLeaseStore } from './redis-lease-store.js';
import { CLOCK, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE } from './tokens.js';

const logger = new Logger('LeaseModule');

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LeaseModuleOptions>()
  .setClassMethodName('forRoot')
  .setExtras<{ isGlobal?: boolean }>({ isGlobal: false }, (definition, { isGlobal = false }) => ({
    ...definition,
    global: isGlobal,
  }))
  .build();

/**
 * Short enough for a second attempt before a holder has to stop, long enough for a server, or a process, that is busy: the
 * deadline of a lease is watched by a timer of its own and doesn't wait for this.
 */
function commandTimeoutMs(ttlMs: number): number {
  return Math.min(Math.max(500, Math.round(ttlMs / 6)), 2_000);
}

const providers = [
  {
    provide: LEASE_SETTINGS,
    useFactory: leaseSettings,
    inject: [MODULE_OPTIONS_TOKEN],
  },
  { provide: CLOCK, useValue: systemClock },
  {
    provide: LEASE_REDIS,
    inject: [LEASE_SETTINGS, CLOCK],
    useFactory: (settings: LeaseSettings, clock: Clock): Promise<Redis> =>
      connectRedis({
        url: settings.redis,
        commandTimeoutMs: commandTimeoutMs(settings.ttlMs),
        name: 'fencepost-lease',
        onTrouble: (message) => logger.warn(message),
        clock,
      }),
  },
  {
    provide: LEASE_STORE,
    inject: [LEASE_REDIS, LEASE_SETTINGS],
    useFactory: (redis: Redis, { prefix, tenant }: LeaseSettings): LeaseStore =>
      new RedisLeaseStore({ redis, prefix, tenant }),
  },
  {
    provide: LeaseKeeper,
    inject: [LEASE_STORE, CLOCK, LEASE_SETTINGS],
    useFactory: (store: LeaseStore, clock: Clock, { holder }: LeaseSettings): LeaseKeeper =>
      new LeaseKeeper({ store, clock, holder: processIdentity(holder) }),
  },
];

/**
 * Leases for a Nest application: `LeaseModule.forRoot({ redis: 'redis://localhost:6379' })`, or `forRootAsync`.
 *
 * At shutdown the leases are given back first, while other modules can still say goodbye to their stores, and the
 * connection is closed last.
 * @throws {SetupError} at start: an option or the server is not as it has to be
 */
@Module({ providers, exports: [CLOCK, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE, LeaseKeeper] })
export class LeaseModule extends ConfigurableModuleClass implements BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(LeaseKeeper) private readonly keeper: LeaseKeeper,
    @Inject(LEASE_REDIS) private readonly redis: Redis,
  ) {
    super();
  }

  async beforeApplicationShutdown(): Promise<void> {
    try {
      await this.keeper.releaseAll();
    } catch (error) {
      // Nothing is lost but time: what could not be given back ends by itself within its ttl.
      logger.warn(`The leases of this process end by themselves: releasing them failed (${String(error)}).`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.redis);
  }
}
