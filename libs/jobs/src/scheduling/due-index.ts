/**
 * Due times of crons, so that one timer serves all of them. Pure: the caller passes the time.
 *
 * Crons that are due at the same instant share a bucket, and the heap orders buckets, not crons: at midnight thousands of
 * crons cost one heap step.
 */
export class DueIndex {
  readonly #dueAt = new Map<string, number>();
  readonly #buckets = new Map<number, Set<string>>();
  readonly #heap: number[] = [];
  /** Buckets of which a part was taken. */
  readonly #reversed = new WeakSet<Set<string>>();

  /** Sets or replaces the due time of `cron`, epoch milliseconds. */
  set(cron: string, dueAt: number): void {
    this.remove(cron);
    this.#dueAt.set(cron, dueAt);
    const bucket = this.#buckets.get(dueAt);
    if (bucket) {
      bucket.add(cron);
      return;
    }
    this.#buckets.set(dueAt, new Set([cron]));
    this.#push(dueAt);
  }

  remove(cron: string): void {
    const dueAt = this.#dueAt.get(cron);
    if (dueAt === undefined) return;
    this.#dueAt.delete(cron);
    // The empty bucket stays until the heap reaches it: removing it from the middle would cost a search.
    this.#buckets.get(dueAt)?.delete(cron);
  }

  /** The due time of `cron`, `null` if it has none. */
  dueAt(cron: string): number | null {
    return this.#dueAt.get(cron) ?? null;
  }

  /** The earliest due time, `null` if there is none. */
  earliest(): number | null {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if ((this.#buckets.get(top)?.size ?? 0) > 0) return top;
      this.#buckets.delete(top);
      this.#pop();
    }
    return null;
  }

  /** Removes and returns the crons that are due at `now`, at most `max`, the earliest first. */
  takeDue(now: number, max = Infinity): string[] {
    const due: string[] = [];
    for (let at = this.earliest(); at !== null && at <= now && due.length < max; at = this.earliest()) {
      this.#takeFrom(at, max, due);
    }
    return due;
  }

  /**
   * Removes and returns at most `max` crons that are due at `now`, the earliest first, and of one instant those set last. When more
   * are due, half of the places are for those that have been due for less than `lateMs`: they pass the backlog.
   */
  takeSlice(now: number, { max, lateMs }: { readonly max: number; readonly lateMs: number }): string[] {
    const half = Math.ceil(max / 2);
    const oldest = this.takeDue(now, half);
    if (oldest.length < half) return oldest;
    const recent: string[] = [];
    for (const at of this.#instants(now - lateMs, now)) this.#takeFrom(at, max - oldest.length, recent);
    return [...oldest, ...this.takeDue(now, max - oldest.length - recent.length), ...recent];
  }

  /** How many crons are due at `now`. */
  countDue(now: number): number {
    return this.#instants(-Infinity, now).reduce((count, at) => count + (this.#buckets.get(at)?.size ?? 0), 0);
  }

  /** Moves crons from a bucket until there are `max`. The empty bucket is removed when the heap reaches it. */
  #takeFrom(at: number, max: number, taken: string[]): void {
    const bucket = this.#turned(at, max - taken.length);
    for (const cron of bucket) {
      if (taken.length >= max) return;
      taken.push(cron);
      bucket.delete(cron);
      this.#dueAt.delete(cron);
    }
  }

  /**
   * The crons of an instant; when they do not fit, those that were set last come first: a cron that fires each second was set a
   * second ago, and would lose all of the seconds that a nightly burst takes.
   */
  #turned(at: number, free: number): Set<string> {
    const bucket = this.#buckets.get(at) ?? new Set();
    if (bucket.size <= free || free <= 0 || this.#reversed.has(bucket)) return bucket;
    const reversed = new Set([...bucket].toReversed());
    this.#buckets.set(at, reversed);
    this.#reversed.add(reversed);
    return reversed;
  }

  /** The instants in `(after, through]`, in order. Visits no others later than these: both children in a heap are later. */
  #instants(after: number, through: number): number[] {
    const found: number[] = [];
    const visiting = [0];
    for (let index = visiting.pop(); index !== undefined; index = visiting.pop()) {
      const at = this.#heap[index] ?? Infinity;
      if (at > through) continue;
      if (at > after) found.push(at);
      visiting.push(2 * index + 1, 2 * index + 2);
    }
    return found.toSorted((a, b) => a - b);
  }

  #push(value: number): void {
    const heap = this.#heap;
    let child = heap.push(value) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if ((heap[parent] ?? 0) <= value) break;
      heap[child] = heap[parent] ?? 0;
      child = parent;
    }
    heap[child] = value;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let parent = 0;
    for (let child = 1; child < heap.length; child = 2 * parent + 1) {
      if ((heap[child + 1] ?? Infinity) < (heap[child] ?? Infinity)) child += 1;
      if ((heap[child] ?? Infinity) >= last) break;
      heap[parent] = heap[child] ?? 0;
      parent = child;
    }
    heap[parent] = last;
  }
}
