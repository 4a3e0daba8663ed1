import { RecentTimes } from './recent-times.js';
import type { TtlMeasurements, TtlVerdict } from './ttl-advice.js';

/** What is remembered of one resource, or of one type of them. */
export class HoldTimes {
  readonly held = new RecentTimes();
  ttlMs: number | null = null;
  /** What was said last, so that it isn't said again. */
  verdict: TtlVerdict = 'too-few-samples';

  constructor(readonly about: string) {}

  measured(p999StoreMs: number): TtlMeasurements {
    const { about, held, ttlMs } = this;
    const [p50, p99, p999] = held.quantiles([0.5, 0.99, 0.999]);
    return { about, samples: held.samples, holdMs: { p50, p99, p999 }, p999StoreMs, ttlMs };
  }
}

/** A bounded number of {@link HoldTimes}; the one that wasn't acquired for the longest time makes way. */
export class HoldTimesBook {
  readonly #entries = new Map<string, HoldTimes>();

  constructor(readonly most: number) {}

  find(about: string): HoldTimes | undefined {
    return this.#entries.get(about);
  }

  acquired(about: string, ttlMs: number): void {
    const entry = this.#entries.get(about) ?? new HoldTimes(about);
    entry.ttlMs = ttlMs;
    // Taken out and put back, so that the map stays in the order of use, the oldest in front.
    this.#entries.delete(about);
    this.#entries.set(about, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.most) break;
      this.#entries.delete(oldest);
    }
  }
}
