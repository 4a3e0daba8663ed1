import { sleep } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { isFinal } from '../base/errors.js';
import type { Term } from '../store/grant.js';
import type { AcquireReply, AcquireRequest, LeaseStore } from '../store/lease-store.js';
import type { AcquireCall } from './held-lease.js';
import type { LeaseReports } from './lease-reports.js';

/** For a store that doesn't answer at the close. Its terms end by themselves within their ttl. */
const PATIENCE_MS = 2_000;

export interface LeaseRequestsOptions {
  readonly clock: Clock;
  readonly reports: LeaseReports;
}

/** A keeper's requests for leases: each is made twice at most, and a connection is closed after the last of them. */
export class LeaseRequests {
  readonly #store: LeaseStore;
  readonly #options: LeaseRequestsOptions;
  #pending = 0;
  #settled: AbortController | undefined;

  constructor(store: LeaseStore, options: LeaseRequestsOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** What follows may grant a lease or give one back, until {@link end}. */
  begin(): void {
    this.#pending += 1;
  }

  end(): void {
    this.#pending -= 1;
    if (this.#pending > 0) return;
    this.#settled?.abort();
    this.#settled = undefined;
  }

  /** Waits until nothing is pending, for at most two seconds. */
  async settled(): Promise<void> {
    if (this.#pending === 0) return;
    this.#settled ??= new AbortController();
    await sleep(this.#options.clock, PATIENCE_MS, this.#settled.signal);
  }

  askFor(requests: readonly AcquireRequest[]): Promise<AcquireReply[]> {
    const store = this.#store;
    return store.acquireMany
      ? store.acquireMany(requests)
      : Promise.all(requests.map((request) => store.acquire(request)));
  }

  /**
   * Asks once more after an error: a reply may get lost, and the same nonce gets the same term and the same fence.
   * @throws the store's error; terms that may have begun are released
   */
  async askAgain<R>({ requests, hold }: AcquireCall, failed: unknown, ask: () => Promise<R>): Promise<R> {
    try {
      if (isFinal(failed)) throw failed;
      return await ask();
    } catch (error) {
      for (const request of requests) this.#options.reports.unanswered(request, error, hold.since);
      // Whether a term has begun is unknown; one that has would block the resource for its ttl. An error that is final for
      // one request of a batch says nothing about the others.
      if (requests.length > 1 || !isFinal(error)) void this.giveBack(requests);
      throw error;
    }
  }

  /** Releases terms that are not wanted, held or not. */
  async giveBack(requests: readonly Term[]): Promise<void> {
    this.begin();
    await this.#store.release(requests).catch(() => {});
    this.end();
  }
}
