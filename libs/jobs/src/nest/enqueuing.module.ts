import {
  Inject,
  Module,
  Injectable,
  type DynamicModule,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { Jobs } from '../enqueuing/jobs.js';
import type { BullmqAlarmQueue } from '../notifying/bullmq-alarm-queue.js';
import type { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import type { Membership } from '../membership/membership.js';
import type { RunQueue } from '../queue/run-queue.js';
import { reportQueueFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import { ALARM_QUEUE, CATALOG, JOBS_SETTINGS, LEDGER, MEMBERSHIP, RUN_QUEUE, TRACING } from './tokens.js';
import type { CronHandler } from '../running/delivery.js';
import type { PayloadReader } from '../running/payload-schema.js';

/*
 * BullMQ is imported when a queue is opened: it is a quarter of what this package loads, and a program that only declares crons, such as
 * a test or a command line, opens none.
 */

/** How the handlers of this process read their payloads, so that a wrong one is refused before it is enqueued. */
@Injectable()
export class PayloadReaders {
  #handlers: ReadonlyMap<string, CronHandler> = new Map();

  know(handlers: ReadonlyMap<string, CronHandler>): void {
    this.#handlers = handlers;
  }

  of(job: string): PayloadReader | undefined {
    return this.#handlers.get(job)?.readPayload;
  }
}

@Injectable()
class RunQueueOpener {
  @Inject(LEASE_REDIS) private readonly redis!: RedisClient;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(TRACING) private readonly tracing!: Tracing | null;

  async open(): Promise<BullmqRunQueue> {
    const { BullmqRunQueue } = await import('../queue/bullmq-run-queue.js');
    const { redis, catalog, ledger, telemetry, tracing } = this;
    const { prefix, tenant } = this.settings;
    const onTrouble = (error: Error) => reportQueueFailure(telemetry, { operation: 'queue.connect' }, error);
    const options = { redis, prefix, tenant, catalog, ledger, telemetry, tracing, onTrouble };
    return retryOnBoot(() => BullmqRunQueue.openRouted(options));
  }
}

const runQueue: Provider = {
  provide: RUN_QUEUE,
  inject: [RunQueueOpener],
  useFactory: (opener: RunQueueOpener) => opener.open(),
};

/** The queue of webhook messages and pings, filled by either role. */
const alarmQueue: Provider = {
  provide: ALARM_QUEUE,
  inject: [LEASE_REDIS, JOBS_SETTINGS, Telemetry],
  useFactory: async (redis: RedisClient, { prefix, tenant }: JobsSettings, telemetry: Telemetry) => {
    const { BullmqAlarmQueue } = await import('../notifying/bullmq-alarm-queue.js');
    const onTrouble = (error: Error) => reportQueueFailure(telemetry, { operation: 'alarm-queue.connect' }, error);
    return new BullmqAlarmQueue({ redis, prefix, tenant, onTrouble });
  },
};

type Ports = [catalog: Catalog, ledger: Ledger, queue: RunQueue, membership: Membership, clock: Clock];

const jobs: Provider = {
  provide: Jobs,
  inject: [CATALOG, LEDGER, RUN_QUEUE, MEMBERSHIP, CLOCK, PayloadReaders],
  useFactory: (...[crons, ledger, queue, membership, clock, readers]: [...Ports, PayloadReaders]) =>
    new Jobs({ catalog: crons, ledger, queue, membership, clock, readerOf: (job) => readers.of(job) }),
};

/** What either role hands to BullMQ: runs, jobs, and messages to receivers outside; over the connection of all. */
@Module({})
export class EnqueuingModule implements OnApplicationShutdown {
  constructor(
    @Inject(RUN_QUEUE) private readonly queue: BullmqRunQueue,
    @Inject(ALARM_QUEUE) private readonly messages: BullmqAlarmQueue,
  ) {}

  /** @param core the module that everything stands on */
  static on(core: DynamicModule): DynamicModule {
    return {
      module: EnqueuingModule,
      imports: [core],
      providers: [RunQueueOpener, runQueue, alarmQueue, jobs, PayloadReaders],
      exports: [RUN_QUEUE, ALARM_QUEUE, Jobs, PayloadReaders],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.queue.close(), this.messages.close()]);
  }
}
