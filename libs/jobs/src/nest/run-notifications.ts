import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import type { Ledger } from '@fencepost/ledger';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { BullmqAlarmQueue } from '../notifying/bullmq-alarm-queue.js';
import { PingCache, notifyOf, RunNotifier } from '../notifying/run-notifier.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings } from './options.js';
import { ALARM_QUEUE, CATALOG, JOBS_SETTINGS, LEDGER } from './tokens.js';

/** In a worker: says of which ends its runs ask to be notified, and hands the notifications on as they come. */
@Injectable()
export class RunNotifications implements OnApplicationShutdown {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(ALARM_QUEUE) private readonly queue!: BullmqAlarmQueue;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #pings: PingCache | null = null;
  #notifier: RunNotifier | null = null;

  /** Called when `notifyOf` may say something else than before. */
  onChange: () => void = () => {};

  readonly notifyOf = (cron: string): string =>
    notifyOf(this.settings.webhooks, cron, this.#pings === null ? null : this.#pings.of(cron));

  /** To be called before the first run begins. */
  async start(): Promise<void> {
    const { catalog, ledger, clock, telemetry, queue } = this;
    this.#notifier = new RunNotifier({ ledger, queue, telemetry, webhooks: this.settings.webhooks });
    this.#notifier.start(this.notifyOf);
    this.#pings = new PingCache({ catalog, clock, telemetry, onChange: () => this.onChange() });
    await this.#pings.start();
  }

  /** After the last run has ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.#pings?.stop();
    await this.#notifier?.stop();
  }
}
