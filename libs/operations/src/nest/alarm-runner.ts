import { Inject, Injectable, Optional } from '@nestjs/common';
import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Ledger } from '@fencepost/ledger';
import {
  ALARM_QUEUE,
  DATABASE,
  JOBS_SETTINGS,
  SCHEDULER,
  type SchedulerRunner,
  workerCopyOf,
  type BullmqAlarmQueue,
  type Database,
  type JobsSettings,
} from '@fencepost/jobs/internal';
import type { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import { LEDGER, Telemetry } from '@fencepost/jobs';
import { MonitorAssignment } from '../alarms/monitor-assignment.js';
import { AlarmProcessor } from '../alarms/alarm.processor.js';
import { WebhookSender } from '../alarms/webhook-sender.js';
import { LazyWorker } from '../alarms/lazy-worker.js';
import { openAlarmStore } from './definition-stores.js';

/** Watches over crons in a scheduler pod, and takes messages to their receivers. */
@Injectable()
export class AlarmRunner
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LEASE_REDIS) private readonly redis!: RedisClient;
  @Inject(DATABASE) private readonly database!: Database | null;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(ALARM_QUEUE) private readonly queue!: BullmqAlarmQueue;
  /** `null` in a process that is no scheduler. */
  @Optional() @Inject(SCHEDULER) private readonly runner: SchedulerRunner | null = null;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
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
    const { redis, ledger, queue, keeper, clock, telemetry } = this;
    const { webhooks, alarms } = this.settings;
    const store = openAlarmStore(redis, this.database, this.settings);
    const { lookEveryMs } = alarms;
    return new MonitorAssignment({
      pod,
      name: keeper.holder,
      ledger,
      store,
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
    const pingOf = (cron: string) => catalogCache.get(cron)?.entry.definition.ping;
    const webhookSender = new WebhookSender({ webhooks, pingOf, clock, telemetry, ...alarms });
    const isWanted = () =>
      webhooks.length > 0 || [...catalogCache.entries()].some(({ entry }) => entry.definition.ping !== undefined);
    const open = () => {
      this.#redis ??= workerCopyOf(this.redis);
      return new AlarmProcessor({ redis: this.#redis, prefix, tenant, webhookSender, telemetry });
    };
    return new LazyWorker({ open, isWanted, clock, telemetry, lookEveryMs: alarms.lookEveryMs });
  }
}
