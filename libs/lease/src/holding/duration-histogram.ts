const MIN_MS = 0.1;
const GROWTH = 1.02;
/** Up to 78 hours; longer durations count as that. */
const BUCKETS = 1_100;
/** p99.9 of 5,000 durations still has five above it. */
const GENERATION = 5_000;

/**
 * Quantiles of the last 5,000 to 10,000 durations, never too small and at most 2 % too large: each bucket ends 2 % above
 * the one before. Older durations are forgotten, because a section that was made faster needs the shorter TTL.
 */
export class DurationHistogram {
  #previous: Uint16Array | undefined;
  #current = new Uint16Array(BUCKETS);
  #added = 0;

  get samples(): number {
    return (this.#previous ? GENERATION : 0) + this.#added;
  }

  add(ms: number): void {
    if (!Number.isFinite(ms)) return;
    const bucket = Math.ceil(Math.log(Math.max(ms, MIN_MS) / MIN_MS) / Math.log(GROWTH));
    const at = Math.min(bucket, BUCKETS - 1);
    this.#current[at] = this.#countAt(this.#current, at) + 1;
    this.#added += 1;
    if (this.#added < GENERATION) return;
    this.#previous = this.#current;
    this.#current = new Uint16Array(BUCKETS);
    this.#added = 0;
  }

  /** The duration that the part `q` of all durations doesn't exceed; 0 before the first one. */
  quantile(q: number): number {
    const rank = Math.ceil(q * this.samples);
    let seen = 0;
    for (let at = 0; at < BUCKETS; at += 1) {
      seen += this.#countAt(this.#current, at) + this.#countAt(this.#previous, at);
      if (seen > 0 && seen >= rank) return MIN_MS * GROWTH ** at;
    }
    return 0;
  }

  #countAt(counts: Uint16Array | undefined, at: number): number {
    return counts?.[at] ?? 0;
  }
}
