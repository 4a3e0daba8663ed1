import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import type { BullmqAlarmQueue } from '../alarms/bullmq-alarm-queue.js';
import { PingBook } from '../alarms/ping-book.js';
import { RunNews } from '../alarms/run-news.js';
import type { Catalog } from '../catalog/catalog.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings } from './options.js';
import { ALARM_QUEUE, CATALOG, JOBS_SETTINGS } from './tokens.js';

/** In a worker: tells those outside how its runs end. */
@Injectable()
export class RunNewsRunner implements OnApplicationBootstrap, OnApplicationShutdown {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(ALARM_QUEUE) private readonly queue!: BullmqAlarmQueue;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #pings: PingBook | null = null;
  #news: RunNews | null = null;

  async onApplicationBootstrap(): Promise<void> {
    const { catalog, clock, telemetry, queue, settings } = this;
    const pings = new PingBook({ catalog, clock, telemetry });
    this.#pings = pings;
    this.#news = new RunNews({
      telemetry,
      queue,
      clock,
      webhooks: settings.webhooks,
      pingOf: (cron) => pings.of(cron),
    });
    this.#news.start();
    await pings.start();
  }

  /** After the last run has ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.#pings?.stop();
    await this.#news?.stop();
    await this.queue.close();
  }
}
