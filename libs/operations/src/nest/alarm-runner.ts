import { Inject, Injectable, Optional } from '@nestjs/common';
import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper, type CancelTimer } from '@fencepost/lease/internal';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import {
  ALARM_QUEUE,
  DATABASE,
  JOBS_SETTINGS,
  POD_REGISTRY,
  type PodRegistry,
  READ_STORES,
  type ReadStores,
  SCHEDULER,
  type SchedulerRunner,
  workerCopyOf,
  type BullmqAlarmQueue,
  type Database,
  type JobsSettings,
  reportQueueFailure,
} from '@fencepost/jobs/internal';
import type { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import { Telemetry } from '@fencepost/jobs';
import { DeliveryLog } from '../alarms/delivery-log.js';
import { Mutes } from '../alarms/mutes.js';
import { MonitorAssignment } from '../alarms/monitor-assignment.js';
import { AlarmProcessor } from '../alarms/alarm.processor.js';
import { WebhookSender } from '../alarms/webhook-sender.js';
import { openAlarmStore } from './definition-stores.js';

/** Watches over crons in a scheduler pod, and takes messages to their receivers. */
@Injectable()
export class AlarmRunner
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LEASE_REDIS) private readonly redis!: RedisClient;
  @Inject(DATABASE) private readonly database!: Database | null;
  @Inject(POD_REGISTRY) private readonly registry!: PodRegistry;
  @Inject(READ_STORES) private readonly reads!: ReadStores;
  @Inject(ALARM_QUEUE) private readonly queue!: BullmqAlarmQueue;
  /** `null` in a process that is no scheduler. */
  @Optional() @Inject(SCHEDULER) private readonly runner: SchedulerRunner | null = null;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Mutes) private readonly mutes!: Mutes;
  @Inject(DeliveryLog) private readonly deliveries!: DeliveryLog;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #monitor: MonitorAssignment | null = null;
  #lazyWorker: LazyWorker | null = null;
  #redis: RedisClient | null = null;

  /** Before the scheduler starts, which warns where nobody does this. */
  onModuleInit(): void {
    if (this.runner) this.runner.isWatched = true;
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.runner) return;
    const pod = await this.runner.started;
    this.#monitor = this.#monitorOf(pod);
    this.#lazyWorker = this.#lazyWorkerOf(pod);
    this.#monitor.monitor.start();
    this.#lazyWorker.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.#monitor?.monitor.stop(), this.#lazyWorker?.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.#redis) await closeRedis(this.#redis);
  }

  #monitorOf(pod: SchedulerPod): MonitorAssignment {
    const { redis, queue, keeper, clock, telemetry } = this;
    const { webhooks, alarms } = this.settings;
    const store = openAlarmStore(redis, this.database, this.settings);
    const { lookEveryMs } = alarms;
    return new MonitorAssignment({
      pod,
      name: keeper.holder,
      ledger: this.reads.ledger,
      store,
      registry: this.registry,
      queue,
      webhooks,
      clock,
      telemetry,
      lookEveryMs,
    });
  }

  #lazyWorkerOf({ catalogCache }: SchedulerPod): LazyWorker {
    const { clock, telemetry } = this;
    const { prefix, tenant, webhooks, alarms } = this.settings;
    const definitionOf = (cron: string) => catalogCache.get(cron)?.entry.definition;
    const { mutes, deliveries } = this;
    const webhookSender = new WebhookSender({
      ...{ webhooks, definitionOf, mutes, deliveries, clock, telemetry },
      ...alarms,
    });
    const isWanted = () =>
      webhooks.length > 0 || [...catalogCache.entries()].some(({ entry }) => entry.definition.ping !== undefined);
    const open = () => {
      this.#redis ??= workerCopyOf(this.redis);
      return new AlarmProcessor({ redis: this.#redis, prefix, tenant, webhookSender, telemetry });
    };
    return new LazyWorker({ open, isWanted, clock, telemetry, lookEveryMs: alarms.lookEveryMs });
  }
}

interface LazyWorkerDeps {
  readonly open: () => Pick<AlarmProcessor, 'start' | 'stop'>;
  /** Whether there is anybody outside who is told of anything. */
  readonly isWanted: () => boolean;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Between two looks whether it is wanted. */
  readonly lookEveryMs: number;
}

/** Takes messages from their queue from when the first receiver is known: before, that would be two connections for nothing. */
class LazyWorker {
  #processor: ReturnType<LazyWorkerDeps['open']> | null = null;
  #cancel: CancelTimer = () => {};
  #opening: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: LazyWorkerDeps) {}

  start(): void {
    this.#opening = this.#open().then(() => this.#arm());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#opening;
    await this.#processor?.stop();
  }

  #arm(): void {
    if (this.#stopped || this.#processor) return;
    this.#cancel = this.deps.clock.after(this.deps.lookEveryMs, () => this.start());
  }

  /** One that could not be started is thrown away, and the next look makes another. */
  async #open(): Promise<void> {
    if (!this.deps.isWanted()) return;
    const processor = this.deps.open();
    try {
      await processor.start();
      this.#processor = processor;
    } catch (error) {
      reportQueueFailure(this.deps.telemetry, { operation: 'alarm-queue.open' }, error);
      await processor.stop();
    }
  }
}
