import { Inject, Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import { AlarmDuty } from '../alarms/alarm-duty.js';
import { AlarmProcessor } from '../alarms/alarm.processor.js';
import type { BullmqAlarmQueue } from '../alarms/bullmq-alarm-queue.js';
import { Courier } from '../alarms/courier.js';
import { Postman } from '../alarms/postman.js';
import type { Ledger } from '@fencepost/ledger';
import type { SchedulerPod } from '../scheduling/scheduler-pod.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { openAlarmBook } from './definition-stores.js';
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

  #duty: AlarmDuty | null = null;
  #postman: Postman | null = null;
  #redis: RedisClient | null = null;

  async onApplicationBootstrap(): Promise<void> {
    const pod = await this.runner.started;
    this.#duty = this.#dutyOf(pod);
    this.#postman = this.#postmanOf(pod);
    this.#duty.watcher.start();
    this.#postman.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.#duty?.watcher.stop(), this.#postman?.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.queue.close();
    if (this.#redis) await closeRedis(this.#redis);
  }

  #dutyOf(pod: SchedulerPod): AlarmDuty {
    const { redis, ledger, queue, keeper, clock, telemetry } = this;
    const { webhooks, alarms } = this.settings;
    const book = openAlarmBook(redis, this.database, this.settings);
    const { lookEveryMs } = alarms;
    return new AlarmDuty({ pod, name: keeper.holder, ledger, book, queue, webhooks, clock, telemetry, lookEveryMs });
  }

  #postmanOf({ roster }: SchedulerPod): Postman {
    const { clock, telemetry } = this;
    const { prefix, tenant, webhooks, alarms } = this.settings;
    const pingOf = (cron: string) => roster.get(cron)?.entry.definition.ping;
    const courier = new Courier({ webhooks, pingOf, clock, telemetry, ...alarms });
    const isWanted = () =>
      webhooks.length > 0 || [...roster.entries()].some(({ entry }) => entry.definition.ping !== undefined);
    const open = () => {
      this.#redis ??= workerCopyOf(this.redis);
      return new AlarmProcessor({ redis: this.#redis, prefix, tenant, courier, telemetry });
    };
    return new Postman({ open, isWanted, clock, telemetry, lookEveryMs: alarms.lookEveryMs });
  }
}
