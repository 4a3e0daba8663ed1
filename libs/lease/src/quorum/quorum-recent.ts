/**
 * The entries that were set last: at least `least` of them, at most twice as many. Forgetting one costs time and never safety.
 *
 * Two maps, of which the older one is dropped as a whole: a map whose oldest entry is deleted with each new one has to walk
 * over all that were deleted before to find the next.
 */
export class QuorumRecent<V> {
  readonly #least: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(least: number) {
    this.#least = least;
  }

  get(key: string): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#least) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
