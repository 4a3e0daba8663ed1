const MIN_MS = 0.1;
const GROWTH = 1.02;
/** Up to 78 hours; longer durations count as that. */
const BUCKETS = 1_100;
/** p99.9 of 5,000 durations still has five above it. */
const GENERATION = 5_000;
/** Of many resources most are held a few times only: the list of so few durations is far smaller than all buckets. */
const FEW = 16;

/**
 * Quantiles of the last 5,000 to 10,000 durations, never too small and at most 2 % too large: each bucket ends 2 % above
 * the one before. Older durations are forgotten, because a section that was made faster needs the shorter TTL.
 */
export class DurationHistogram {
  #previous: Uint16Array | undefined;
  /** How many durations of the present generation are in each bucket. */
  #current: Uint16Array | undefined;
  /** The buckets of the last few, to be counted together. */
  readonly #few: number[] = [];
  #added = 0;

  get samples(): number {
    return (this.#previous ? GENERATION : 0) + this.#added;
  }

  add(ms: number): void {
    if (!Number.isFinite(ms)) return;
    this.#added += 1;
    this.#few.push(bucketOf(ms));
    if (this.#few.length === FEW) this.#count();
    if (this.#added < GENERATION) return;
    this.#count();
    this.#previous = this.#current;
    this.#current = undefined;
    this.#added = 0;
  }

  /** The duration that the part `q` of all durations doesn't exceed; 0 before the first one. */
  quantile(q: number): number {
    this.#count();
    const rank = Math.ceil(q * this.samples);
    let seen = 0;
    for (let at = 0; at < BUCKETS; at += 1) {
      seen += this.#countAt(this.#current, at) + this.#countAt(this.#previous, at);
      if (seen > 0 && seen >= rank) return MIN_MS * GROWTH ** at;
    }
    return 0;
  }

  #count(): void {
    if (this.#few.length === 0) return;
    const counts = (this.#current ??= new Uint16Array(BUCKETS));
    for (const at of this.#few) counts[at] = this.#countAt(counts, at) + 1;
    this.#few.length = 0;
  }

  #countAt(counts: Uint16Array | undefined, at: number): number {
    return counts?.[at] ?? 0;
  }
}

function bucketOf(ms: number): number {
  if (ms <= MIN_MS) return 0;
  return Math.min(Math.ceil(Math.log(ms / MIN_MS) / Math.log(GROWTH)), BUCKETS - 1);
}
