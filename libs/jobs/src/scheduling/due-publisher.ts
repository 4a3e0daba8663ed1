import type { Telemetry } from '../telemetry/telemetry.js';
import type { Membership } from '../membership/membership.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface DuePublisherDeps {
  readonly membership: Membership;
  readonly telemetry: Telemetry;
}

/**
 * Publishes next due times to the other pods in the background, with one call at a time: due times that arrive meanwhile go
 * with the next call. A failed call is only reported: the holder publishes again when its cron is taken for overdue.
 */
export class DuePublisher {
  #waiting = new Map<string, number | null>();
  #publishing: Promise<void> | null = null;

  constructor(private readonly deps: DuePublisherDeps) {}

  /** Epoch milliseconds of the store; `null` for a cron without a next instant. */
  publish(dues: Iterable<readonly [string, number | null]>): void {
    for (const [cron, due] of dues) this.#waiting.set(cron, due);
    if (this.#waiting.size > 0) this.#publishing ??= this.#publishWaiting();
  }

  /** Resolves when no call is in progress. */
  async settled(): Promise<void> {
    await this.#publishing;
  }

  async #publishWaiting(): Promise<void> {
    const { membership, telemetry } = this.deps;
    // Collects all due times of one tick of the event loop.
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
