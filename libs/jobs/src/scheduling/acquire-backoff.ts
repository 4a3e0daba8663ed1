import type { Clock } from '@fencepost/lease';

export interface AcquireBackoffDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly ttlMs: number;
}

interface Trouble {
  readonly times: number;
  /** Monotonic. */
  readonly until: number;
}

/** Per-cron backoff before re-acquiring a lease that was lost or given up unused. */
export class AcquireBackoff {
  readonly #troubles = new Map<string, Trouble>();
  /** Since when each lease has been refused. Monotonic. */
  readonly #refused = new Map<string, number>();

  constructor(private readonly deps: AcquireBackoffDeps) {}

  /** @param minMs lower bound of a backoff that grows with each call in a row */
  note(cron: string, minMs: number): void {
    this.#forget();
    const times = (this.#troubles.get(cron)?.times ?? 0) + 1;
    const until = this.deps.clock.monotonic() + Math.max(minMs, this.backoff(times));
    this.#troubles.set(cron, { times, until });
  }

  /** The time left, in milliseconds; 0 or less if the lease may be acquired. */
  leftMs(cron: string): number {
    const trouble = this.#troubles.get(cron);
    return trouble === undefined ? 0 : trouble.until - this.deps.clock.monotonic();
  }

  /**
   * To be asked at each refusal. A term lives as long as its holder's session, so a store that has lost a release may refuse a
   * lease for ever that no pod acts under: the cron is then published as overdue, and a holder that does act says when it is due.
   * @returns whether the lease has been refused for a TTL; the time counts anew then
   */
  isRefusedForLong(cron: string): boolean {
    const now = this.deps.clock.monotonic();
    const since = this.#refused.get(cron) ?? now;
    const isLong = now - since >= this.deps.ttlMs;
    if (isLong) this.#refused.delete(cron);
    else this.#refused.set(cron, since);
    return isLong;
  }

  /** The lease was granted, or is no longer wanted. */
  settle(cron: string): void {
    this.#refused.delete(cron);
  }

  /** Exponential from 100 ms up to a third of the TTL, with jitter, so that an outage causes no busy loop. */
  backoff(failures: number): number {
    const longest = Math.min(50 * 2 ** failures, this.deps.ttlMs / 3);
    return longest * (0.5 + this.deps.random() / 2);
  }

  /** A backoff that ended a TTL ago no longer counts: the term since then was useful. */
  #forget(): void {
    const before = this.deps.clock.monotonic() - this.deps.ttlMs;
    for (const [cron, { until }] of this.#troubles) if (until < before) this.#troubles.delete(cron);
  }
}
