/** The crons of one instant, in the order in which they were set. */
interface Bucket {
  readonly at: number;
  entries: Entry[];
  /** How many entries are not dead. */
  live: number;
}

interface Entry {
  readonly cron: string;
  /** `null`: dead. The cron was taken, removed or set anew. */
  bucket: Bucket | null;
}

/** A bucket with more dead entries than this, and than live ones, is swept: crons may be set anew without end. */
const MAX_DEAD = 16;

/**
 * Due times of crons, so that one timer serves all of them. Pure: the caller passes the time.
 *
 * Crons that are due at the same instant share a bucket, and the heap orders buckets, not crons: at midnight thousands of
 * crons cost one heap step. A cron that is set anew leaves its old entry behind, which costs less than to find it.
 */
export class DueIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #buckets = new Map<number, Bucket>();
  readonly #heap: Bucket[] = [];

  /** Sets or replaces the due time of `cron`, epoch milliseconds. */
  set(cron: string, dueAt: number): void {
    const old = this.#entries.get(cron);
    if (old) leave(old);
    const bucket = this.#buckets.get(dueAt) ?? this.#newBucket(dueAt);
    const entry = { cron, bucket };
    this.#entries.set(cron, entry);
    bucket.entries.push(entry);
    bucket.live += 1;
  }

  remove(cron: string): void {
    const entry = this.#entries.get(cron);
    if (!entry) return;
    this.#entries.delete(cron);
    leave(entry);
  }

  /** The due time of `cron`, `null` if it has none. */
  dueAt(cron: string): number | null {
    return this.#entries.get(cron)?.bucket?.at ?? null;
  }

  /** The earliest due time, `null` if there is none. */
  earliest(): number | null {
    return this.#first()?.at ?? null;
  }

  /** Removes and returns the crons that are due at `now`, at most `max`, the earliest first. */
  takeDue(now: number, max = Infinity): string[] {
    const due: string[] = [];
    for (let first = this.#first(); first && first.at <= now && due.length < max; first = this.#first()) {
      this.#takeFrom(first, max, due);
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
    for (const bucket of this.#between(now - lateMs, now)) this.#takeFrom(bucket, max - oldest.length, recent);
    return [...oldest, ...this.takeDue(now, max - oldest.length - recent.length), ...recent];
  }

  /** How many crons are due at `now`. */
  countDue(now: number): number {
    return this.#between(-Infinity, now).reduce((count, { live }) => count + live, 0);
  }

  /** The bucket of the earliest due time. An empty one stays until the heap reaches it: to take it out would cost a search. */
  #first(): Bucket | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (top.live > 0) return top;
      this.#buckets.delete(top.at);
      this.#pop();
    }
    return undefined;
  }

  /**
   * Moves crons from a bucket until there are `max`. When they do not fit, those that were set last come first: a cron that fires
   * each second was set a second ago, and would lose all of the seconds that a nightly burst takes.
   */
  #takeFrom(bucket: Bucket, max: number, taken: string[]): void {
    if (bucket.live <= max - taken.length) bucket.entries.reverse();
    while (bucket.live > 0 && taken.length < max) {
      const entry = bucket.entries.pop();
      if (!entry?.bucket) continue;
      taken.push(entry.cron);
      this.#entries.delete(entry.cron);
      entry.bucket = null;
      bucket.live -= 1;
    }
  }

  /** Those of the instants in `(after, through]`, in order. Visits few that are later: both children in a heap are later still. */
  #between(after: number, through: number): Bucket[] {
    const found: Bucket[] = [];
    const visiting = [0];
    for (let index = visiting.pop(); index !== undefined; index = visiting.pop()) {
      const bucket = this.#heap[index];
      if (!bucket || bucket.at > through) continue;
      if (bucket.at > after) found.push(bucket);
      visiting.push(2 * index + 1, 2 * index + 2);
    }
    return found.toSorted((a, b) => a.at - b.at);
  }

  #newBucket(at: number): Bucket {
    const bucket: Bucket = { at, entries: [], live: 0 };
    this.#buckets.set(at, bucket);
    const heap = this.#heap;
    let child = heap.push(bucket) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const above = heap[parent];
      if (!above || above.at <= at) break;
      heap[child] = above;
      child = parent;
    }
    heap[child] = bucket;
    return bucket;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let parent = 0;
    for (let child = 1; child < heap.length; child = 2 * parent + 1) {
      if (this.#atOf(child + 1) < this.#atOf(child)) child += 1;
      const below = heap[child];
      if (!below || below.at >= last.at) break;
      heap[parent] = below;
      parent = child;
    }
    heap[parent] = last;
  }

  #atOf(index: number): number {
    return this.#heap[index]?.at ?? Infinity;
  }
}

function leave(entry: Entry): void {
  const { bucket } = entry;
  if (!bucket) return;
  entry.bucket = null;
  bucket.live -= 1;
  const dead = bucket.entries.length - bucket.live;
  if (dead > Math.max(MAX_DEAD, bucket.live)) bucket.entries = bucket.entries.filter((each) => each.bucket !== null);
}
