import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, Provider } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { CronCatalog } from '../operating/cron-catalog.js';
import { CronOperator } from '../operating/cron-operator.js';
import { Jobs } from '../operating/jobs.js';
import { RunOperator } from '../operating/run-operator.js';
import { BullmqRunQueue } from '../scheduling/bullmq-run-queue.js';
import type { Membership } from '../scheduling/membership.js';
import type { RunQueue } from '../scheduling/run-queue.js';
import { reportQueueFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { alarmQueue } from './alarm-queue-provider.js';
import { services } from './services.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import { PayloadReaders } from './payload-readers.js';
import { questions } from './questions.js';
import type { Reads } from './reads.js';
import {
  ALARM_QUEUE,
  AUDIT_TRAIL,
  CATALOG,
  JOBS_SETTINGS,
  LEDGER,
  MEMBERSHIP,
  READS,
  RUN_QUEUE,
  TRACING,
} from './tokens.js';

type QueueParts = [redis: RedisClient, settings: JobsSettings, telemetry: Telemetry, tracing: Tracing | null];

const runQueue: Provider = {
  provide: RUN_QUEUE,
  inject: [LEASE_REDIS, JOBS_SETTINGS, Telemetry, TRACING],
  useFactory: (...[redis, { prefix, tenant }, telemetry, tracing]: QueueParts) =>
    retryOnBoot(() =>
      BullmqRunQueue.open({
        redis,
        prefix,
        tenant,
        tracing,
        onTrouble: (error) => reportQueueFailure(telemetry, { operation: 'queue.connect' }, error),
      }),
    ),
};

type RunPorts = [catalog: Catalog, ledger: Ledger, queue: RunQueue, membership: Membership];
type Ports = [...RunPorts, clock: Clock];

type CatalogPorts = [catalog: Catalog, clock: Clock, settings: JobsSettings, trail: AuditTrail];

const operator: Provider = {
  provide: CronOperator,
  inject: [CATALOG, LEDGER, RUN_QUEUE, MEMBERSHIP, CLOCK, READS],
  useFactory: (...[catalog, ledger, queue, membership, clock, reads]: [...Ports, Reads]) =>
    new CronOperator({ catalog, ledger, queue, membership, clock, reads }),
};

const runs: Provider = {
  provide: RunOperator,
  inject: [CATALOG, LEDGER, RUN_QUEUE, MEMBERSHIP, READS],
  useFactory: (...[crons, ledger, queue, membership, reads]: [...RunPorts, Reads]) =>
    new RunOperator({ catalog: crons, ledger, queue, membership, reads }),
};

const catalog: Provider = {
  provide: CronCatalog,
  inject: [CATALOG, CLOCK, JOBS_SETTINGS, AUDIT_TRAIL],
  useFactory: (...[crons, clock, { minIntervalMs }, trail]: CatalogPorts) =>
    new CronCatalog({ catalog: crons, clock, minIntervalMs, audit: trail }),
};

const jobs: Provider = {
  provide: Jobs,
  inject: [CATALOG, LEDGER, RUN_QUEUE, MEMBERSHIP, CLOCK, PayloadReaders],
  useFactory: (...[crons, ledger, queue, membership, clock, readers]: [...Ports, PayloadReaders]) =>
    new Jobs({ catalog: crons, ledger, queue, membership, clock, readerOf: (job) => readers.of(job) }),
};

/** What people and programs do to crons while they run, in either role. It enqueues what it triggers, over the connection of all. */
@Module({})
export class OperatingModule implements OnApplicationShutdown {
  constructor(@Inject(RUN_QUEUE) private readonly queue: BullmqRunQueue) {}

  /** @param core the module that everything stands on */
  static on(core: DynamicModule): DynamicModule {
    return {
      module: OperatingModule,
      imports: [core],
      providers: [
        runQueue,
        alarmQueue,
        operator,
        runs,
        catalog,
        jobs,
        PayloadReaders,
        ...services.providers,
        ...questions.providers,
      ],
      exports: [
        RUN_QUEUE,
        ALARM_QUEUE,
        CronOperator,
        RunOperator,
        CronCatalog,
        Jobs,
        PayloadReaders,
        ...services.exports,
        ...questions.exports,
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.queue.close();
  }
}
