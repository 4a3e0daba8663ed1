import { isFinal } from '../base/errors.js';
import type { AcquireReply, AcquireRequest, LeaseStore } from '../store/lease-store.js';
import type { NotAcquired } from './held-lease.js';
import type { LeaseReports } from './lease-reports.js';

export const NOTHING: NotAcquired = { acquired: false, remainingMs: 0 };

/** Asks a store for terms, and gives back what it may have given unknowingly. */
export class Asking {
  constructor(
    private readonly store: LeaseStore,
    private readonly reports: LeaseReports,
  ) {}

  /** A reply may get lost, and the nonce makes asking again harmless: the same term, the same fence. */
  async ask(
    requests: readonly AcquireRequest[],
    sentAt: number,
    call: () => Promise<AcquireReply[]>,
  ): Promise<AcquireReply[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        const replies = await call();
        requests.forEach((request, n) => this.reports.answered(request, replies[n] ?? NOTHING, sentAt));
        return replies;
      } catch (error) {
        if (tries === 1 && !isFinal(error)) continue;
        for (const request of requests) this.reports.unanswered(request, error, sentAt);
        // Whether a term has begun is unknown; if so, it is nobody's, and would block the resource for its ttl. What is
        // final for one of many says nothing of the others.
        if (requests.length > 1 || !isFinal(error)) void this.giveBack(requests);
        throw error;
      }
    }
  }

  async giveBack(requests: readonly AcquireRequest[]): Promise<void> {
    await this.store.release(requests).catch(() => {});
  }
}
