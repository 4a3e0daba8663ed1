import type { Telemetry } from '../telemetry/telemetry.js';
import type { Membership } from '../membership/membership.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface DuePublisherDeps {
  readonly membership: Membership;
  readonly telemetry: Telemetry;
}

/**
 * Tells the other pods when crons are due, without anybody waiting for it: one call is on its way at a time, and what comes
 * meanwhile goes with the next. One that fails is only told: a holder announces again what is wrongly taken for overdue.
 */
export class DuePublisher {
  #waiting = new Map<string, number | null>();
  #publishing: Promise<void> | null = null;

  constructor(private readonly deps: DuePublisherDeps) {}

  /** Epoch milliseconds of the store; `null` for a cron that has no further instant. */
  publish(dues: Iterable<readonly [string, number | null]>): void {
    for (const [cron, due] of dues) this.#waiting.set(cron, due);
    if (this.#waiting.size > 0) this.#publishing ??= this.#publishWaiting();
  }

  /** Resolves when nothing is on its way any more. */
  async settled(): Promise<void> {
    await this.#publishing;
  }

  async #publishWaiting(): Promise<void> {
    const { membership, telemetry } = this.deps;
    // What is due in one turn goes together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const dues = this.#waiting;
      this.#waiting = new Map();
      try {
        await membership.publishDue(dues);
      } catch (error) {
        reportStoreFailure(telemetry, { operation: 'due.publish', count: dues.size }, error);
      }
    }
    this.#publishing = null;
  }
}
