import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, Provider } from '@nestjs/common';
import { LEDGER, Telemetry } from '@fencepost/jobs';
import {
  CATALOG,
  JOBS_SETTINGS,
  MEMBERSHIP,
  POD_REGISTRY,
  RUN_QUEUE,
  type JobsSettings,
  type Membership,
  type PodRegistry,
  type RunQueue,
  CRON_LEASE_STORE,
  DATABASE,
  type Database,
  openAuditTrail,
} from '@fencepost/jobs/internal';
import type { Clock, LeaseStore } from '@fencepost/lease';
import { RedisSemaphoreStore } from '@fencepost/lease/internal/semaphores';
import { CLOCK, LEASE_REDIS, LEASE_STORE } from '@fencepost/lease/nest';
import type { RedisClient } from '@fencepost/lease/redis';
import type { Ledger } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { Catalog } from '@fencepost/ledger/catalog';
import { JournalFeed } from '../journal/journal-feed.js';
import { CronCatalog } from '../operating/cron-catalog.js';
import { CronOperator } from '../operating/cron-operator.js';
import { ExplainService } from '../operating/explain-service.js';
import { Forecasts } from '../operating/forecast.js';
import { RunOperator } from '../operating/run-operator.js';
import { Timelines } from '../operating/timelines.js';
import { DeliveryLog } from '../alarms/delivery-log.js';
import { Receivers } from '../alarms/receivers.js';
import { WebhookSender } from '../alarms/webhook-sender.js';
import { Mutes } from '../alarms/mutes.js';
import { openAlarmStore } from './definition-stores.js';
import { AlarmRunner } from './alarm-runner.js';
import { ObservingModule } from './observing.module.js';
import { onePerJobs } from './one-per-jobs.js';
import { reads as readsProvider, type Reads } from './reads.js';
import { AUDIT_TRAIL, READS, JOURNAL } from './tokens.js';
import { readPostgresFacts } from '@fencepost/ledger/postgres';
import type { Journal } from '../journal/journal.js';
import { Doctor } from '../operating/doctor.js';
import type { OwnStores } from '../operating/own-leases.js';
import { LeaseService } from '../operating/lease-service.js';
import { readRedisFacts } from '../operating/redis-facts.js';
import { findLostDefinitions } from '../operating/lost-definitions.js';

type Stored = [catalog: Catalog, ledger: Ledger, queue: RunQueue, membership: Membership];
type RunPorts = [...Stored, reads: Reads, trail: AuditTrail];

type CatalogPorts = [
  catalog: Catalog,
  clock: Clock,
  settings: JobsSettings,
  trail: AuditTrail,
  membership: Membership,
  pods: PodRegistry,
];

const cronOperator: Provider = {
  provide: CronOperator,
  inject: [CATALOG, LEDGER, RUN_QUEUE, MEMBERSHIP, READS, AUDIT_TRAIL, CLOCK],
  useFactory: (...[catalog, ledger, queue, membership, reads, trail, clock]: [...RunPorts, clock: Clock]) =>
    new CronOperator({ catalog, ledger, queue, membership, reads, audit: trail, clock }),
};

const runOperator: Provider = {
  provide: RunOperator,
  inject: [CATALOG, LEDGER, RUN_QUEUE, MEMBERSHIP, READS, AUDIT_TRAIL],
  useFactory: (...[catalog, ledger, queue, membership, reads, trail]: RunPorts) =>
    new RunOperator({ catalog, ledger, queue, membership, reads, audit: trail }),
};

const cronCatalog: Provider = {
  provide: CronCatalog,
  inject: [CATALOG, CLOCK, JOBS_SETTINGS, AUDIT_TRAIL, MEMBERSHIP, POD_REGISTRY],
  useFactory: (...[crons, clock, { minIntervalMs }, trail, membership, pods]: CatalogPorts) =>
    new CronCatalog({ catalog: crons, clock, minIntervalMs, audit: trail, membership, pods }),
};

const feed: Provider = {
  provide: JournalFeed,
  inject: [CLOCK, Telemetry, READS],
  useFactory: (...[clock, telemetry, { journal: from }]: [Clock, Telemetry, Reads]) =>
    new JournalFeed({ clock, telemetry, journal: from }),
};

const mutes: Provider = {
  provide: Mutes,
  inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS],
  useFactory: (...place: Parameters<typeof openAlarmStore>) => new Mutes(openAlarmStore(...place)),
};

const deliveries: Provider = {
  provide: DeliveryLog,
  inject: [LEASE_REDIS, JOBS_SETTINGS],
  useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) => new DeliveryLog({ redis, prefix, tenant }),
};

type ReceiverPorts = [log: DeliveryLog, muted: Mutes, reads: Reads, clock: Clock, Telemetry, JobsSettings];

const receivers: Provider = {
  provide: Receivers,
  inject: [DeliveryLog, Mutes, READS, CLOCK, Telemetry, JOBS_SETTINGS],
  useFactory: (...[log, muted, { catalog }, clock, telemetry, { webhooks, alarms }]: ReceiverPorts) => {
    const ports = { webhooks, mutes: muted, deliveries: log, clock, telemetry, ...alarms };
    const sender = new WebhookSender({ ...ports, definitionOf: () => undefined });
    return new Receivers({ webhooks, catalog, deliveries: log, sender });
  },
};

/** They read, and change nothing. */
const questions: Provider[] = [
  { provide: Timelines, inject: [READS], useFactory: (looking: Reads) => new Timelines(looking) },
  { provide: ExplainService, inject: [READS], useFactory: (looking: Reads) => new ExplainService(looking) },
  { provide: Forecasts, inject: [READS], useFactory: (looking: Reads) => new Forecasts(looking) },
];

/**
 * What people and programs do to crons while they run, and ask about them; in a scheduler also the monitor that raises alarms.
 * `imports: [jobs, OperationsModule.on(jobs)]`, where `jobs` is what `JobsModule.forRoot` returned. In either role
 * {@link CronOperator} (pause, trigger, cancel, backfill) and {@link CronCatalog} (crons that are made at run time) can be
 * injected then.
 */
@Module({})
export class OperationsModule implements OnApplicationShutdown {
  constructor(
    @Inject(JournalFeed) private readonly journal: JournalFeed,
    @Inject(READS) private readonly looking: Reads,
  ) {}

  /** @param jobs the same object that the application imports; for the same one it is the same module */
  static on(jobs: DynamicModule): DynamicModule {
    return operationsOf(jobs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.journal.stop();
    this.looking.close();
  }
}

const operationsOf = onePerJobs((jobs) => {
  const observing = ObservingModule.on(jobs);
  return {
    module: OperationsModule,
    imports: [jobs, observing],
    providers: [
      readsProvider,
      feed,
      cronOperator,
      runOperator,
      cronCatalog,
      ...services.providers,
      ...questions,
      ...[mutes, deliveries, receivers],
      AlarmRunner,
    ],
    exports: [
      ...[observing, READS, JournalFeed, CronOperator, RunOperator, CronCatalog],
      ...[Timelines, ExplainService, Forecasts, Mutes, Receivers, ...services.exports],
    ],
  };
});

const audit: Provider = {
  provide: AUDIT_TRAIL,
  inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS],
  useFactory: openAuditTrail,
};

type Seen = [catalog: Catalog, journal: Journal];
type OwnPorts = [own: LeaseStore, redis: RedisClient, settings: JobsSettings];
type LeasePorts = [
  ...Seen,
  leases: LeaseStore,
  ledger: Ledger,
  trail: AuditTrail,
  clock: Clock,
  reads: Reads,
  ...OwnPorts,
];

const leaseService: Provider = {
  provide: LeaseService,
  inject: [
    ...[CATALOG, JOURNAL, CRON_LEASE_STORE, LEDGER, AUDIT_TRAIL, CLOCK, READS],
    ...[LEASE_STORE, LEASE_REDIS, JOBS_SETTINGS],
  ],
  useFactory: (...[catalog, journal, leases, ledger, trail, clock, reads, ...own]: LeasePorts) => {
    const { pods, membership } = reads;
    const stores = { catalog, journal, leases, ledger, pods, membership, audit: trail };
    const leasesBesidePods = own[2].leases === 'redis';
    return new LeaseService({ ...stores, clock, reads, own: ownStores(...own), leasesBesidePods });
  },
};

type Operators = [operator: CronOperator, runs: RunOperator, membership: Membership];
type Stores = [reads: Reads, database: Database | null, settings: JobsSettings, clock: Clock];

const doctor: Provider = {
  provide: Doctor,
  inject: [CronOperator, RunOperator, MEMBERSHIP, READS, DATABASE, JOBS_SETTINGS, CLOCK],
  useFactory: (...[operator, runs, membership, reads, database, settings, clock]: [...Operators, ...Stores]) => {
    const { prefix, tenant, ledger, postgres } = settings;
    const { redis, catalog, revisions, journal, ledger: store } = reads;
    return new Doctor({
      ...{ catalog, revisions, journal, operator, runs, membership, ledger },
      redis: () => readRedisFacts({ redis, clock, prefix, tenant }),
      lost: (reading) => findLostDefinitions({ catalog, ledger: store, redis, prefix, tenant }, reading),
      postgres: database && postgres ? () => readPostgresFacts(database.reads, postgres) : null,
    });
  },
};

function ownStores(...[leases, redis, { prefix, tenant }]: OwnPorts): OwnStores {
  return { leases, semaphores: new RedisSemaphoreStore({ redis, prefix, tenant }) };
}

/** What a person looks through and acts with when something is wrong. */
const services = { providers: [audit, leaseService, doctor], exports: [AUDIT_TRAIL, LeaseService, Doctor] };
