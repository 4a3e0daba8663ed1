import { Inject, Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Ledger } from '@fencepost/ledger';
import { MonitorAssignment } from '../alarms/monitor-assignment.js';
import { AlarmProcessor } from '../alarms/alarm.processor.js';
import type { BullmqAlarmQueue } from '../alarms/bullmq-alarm-queue.js';
import { WebhookSender } from '../alarms/webhook-sender.js';
import { LazyWorker } from '../alarms/lazy-worker.js';
import type { SchedulerPod } from '../scheduling/scheduler-pod.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { openAlarmStore } from './definition-stores.js';
import type { JobsSettings } from './options.js';
import type { Database } from './postgres-database.js';
import { workerCopyOf } from './redis-copy.js';
import { ALARM_QUEUE, DATABASE, JOBS_SETTINGS, LEDGER } from './tokens.js';
import { SchedulerRunner } from './scheduler-runner.js';

/** Watches over crons in a scheduler pod, and takes messages to their receivers. */
@Injectable()
export class AlarmRunner implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LEASE_REDIS) private readonly redis!: RedisClient;
  @Inject(DATABASE) private readonly database!: Database | null;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(ALARM_QUEUE) private readonly queue!: BullmqAlarmQueue;
  @Inject(SchedulerRunner) private readonly runner!: SchedulerRunner;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #monitor: MonitorAssignment | null = null;
  #lazyWorker: LazyWorker | null = null;
  #redis: RedisClient | null = null;

  async onApplicationBootstrap(): Promise<void> {
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
    await this.queue.close();
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
