import { QuantileSketch } from './quantile-sketch.js';

/** p99.9 of so many values still has five above it. */
const A_GENERATION = 5_000;

/**
 * Durations of the last 5,000 to 10,000 times, as quantiles. Not of all times: what a job took before it was made faster
 * says nothing about how long it takes now.
 */
export class RecentTimes {
  #previous: QuantileSketch | undefined;
  #current = new QuantileSketch();

  get samples(): number {
    return (this.#previous?.count ?? 0) + this.#current.count;
  }

  /** @param ms milliseconds */
  add(ms: number): void {
    this.#current.add(ms);
    if (this.#current.count < A_GENERATION) return;
    this.#previous = this.#current;
    this.#current = new QuantileSketch();
  }

  /** @returns milliseconds, never too few and at most 2 % too many; 0 when there is none yet */
  quantiles<const Q extends readonly number[]>(parts: Q): { readonly [K in keyof Q]: number } {
    return (this.#previous?.with(this.#current) ?? this.#current).quantiles(parts);
  }
}
