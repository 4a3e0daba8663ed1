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

  /** Removes and returns all crons that are due at `now`, the earliest first. */
  takeDue(now: number): string[] {
    const due: string[] = [];
    for (let at = this.earliest(); at !== null && at <= now; at = this.earliest()) {
      for (const cron of this.#buckets.get(at) ?? []) {
        due.push(cron);
        this.#dueAt.delete(cron);
      }
      this.#buckets.delete(at);
      this.#pop();
    }
    return due;
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
