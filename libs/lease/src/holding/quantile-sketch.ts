/** How far above the exact quantile an answer may be, as a part of it. Never below: what is built on it has to hold. */
export const RELATIVE_ERROR = 0.02;

const GAMMA = 1 + RELATIVE_ERROR;
const LOG_GAMMA = Math.log(GAMMA);

/** A hundredth of a millisecond: what is shorter has no meaning here, and 0 has no logarithm. */
const SMALLEST = 0.01;

/** From the smallest to the largest value that is told apart: a factor of 25,000. */
const MOST_BUCKETS = 512;

/**
 * Quantiles of a stream in bounded memory: a bucket for each power of γ. Its upper end stands for every value in it and is
 * at most 2 % above, however far the values lie apart. When there are too many buckets, the lowest two become one, which
 * costs the low quantiles their accuracy and not the high ones.
 *
 * After Masson, Rim and Lee, “DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees”,
 * PVLDB 12(12), 2019.
 */
export class QuantileSketch {
  readonly #buckets = new Map<number, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** What isn't a finite number is left out. */
  add(value: number): void {
    if (!Number.isFinite(value)) return;
    this.#count += 1;
    this.#put(Math.ceil(Math.log(Math.max(value, SMALLEST)) / LOG_GAMMA), 1);
    if (this.#buckets.size > MOST_BUCKETS) this.#mergeLowest();
  }

  /** What one sketch would know that had seen all that these two have. */
  with(other: QuantileSketch): QuantileSketch {
    const both = new QuantileSketch();
    both.#count = this.#count + other.#count;
    for (const buckets of [this.#buckets, other.#buckets]) for (const [at, count] of buckets) both.#put(at, count);
    return both;
  }

  /**
   * For each part `q` the value that at least this part of all values doesn't exceed; 0 when nothing was added.
   * @param parts above 0, at most 1. With fewer than 1 / (1 − q) values the answer is the largest of them.
   */
  quantiles<const Q extends readonly number[]>(parts: Q): { readonly [K in keyof Q]: number } {
    const ascending = Int32Array.from(this.#buckets.keys()).toSorted();
    return parts.map((q) => this.#valueAt(Math.ceil(q * this.#count), ascending)) as { [K in keyof Q]: number };
  }

  #valueAt(rank: number, ascending: Int32Array): number {
    let seen = 0;
    const found = ascending.find((bucket) => (seen += this.#buckets.get(bucket) ?? 0) >= rank);
    return found === undefined ? 0 : GAMMA ** found;
  }

  #put(bucket: number, count: number): void {
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + count);
  }

  #mergeLowest(): void {
    const [lowest = 0, next = 0] = [...this.#buckets.keys()].toSorted((a, b) => a - b);
    const moved = this.#buckets.get(lowest) ?? 0;
    this.#buckets.delete(lowest);
    this.#put(next, moved);
  }
}
