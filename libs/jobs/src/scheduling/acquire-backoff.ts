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

/** How long to leave crons alone whose last terms served no purpose: the reason may still be there. */
export class AcquireBackoff {
  readonly #troubles = new Map<string, Trouble>();

  constructor(private readonly deps: AcquireBackoffDeps) {}

  /** @param minMs beside what grows with every trouble in a row */
  note(cron: string, minMs: number): void {
    this.#forget();
    const times = (this.#troubles.get(cron)?.times ?? 0) + 1;
    const until = this.deps.clock.monotonic() + Math.max(minMs, this.backoff(times));
    this.#troubles.set(cron, { times, until });
  }

  /** How much longer; 0 or less when there is nothing to wait for. */
  leftMs(cron: string): number {
    const trouble = this.#troubles.get(cron);
    return trouble === undefined ? 0 : trouble.until - this.deps.clock.monotonic();
  }

  /** Exponential from 100 ms up to a third of the TTL, jittered: an outage of the store is never met with a spin. */
  backoff(failures: number): number {
    const longest = Math.min(50 * 2 ** failures, this.deps.ttlMs / 3);
    return longest * (0.5 + this.deps.random() / 2);
  }

  /** A term that has lasted a ttl was of use. */
  #forget(): void {
    const before = this.deps.clock.monotonic() - this.deps.ttlMs;
    for (const [cron, { until }] of this.#troubles) if (until < before) this.#troubles.delete(cron);
  }
}
