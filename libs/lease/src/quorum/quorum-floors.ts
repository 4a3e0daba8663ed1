import type { Clock } from '../base/clock.js';
import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { AcquireRequest } from '../store/lease-store.js';

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

/** The floor of one acquire, and the callbacks for its result. */
export interface Floor {
  readonly floor: Fence;
  /** @param fences what the nodes that granted have issued */
  learn(fences: readonly Fence[]): void;
}

export interface QuorumFloorsOptions {
  readonly clock: Clock;
  /** The longest ttl that is ever asked for, milliseconds. */
  readonly longestTtlMs: number;
}

const REMEMBERED_RESOURCES = 10_000;
const MAX_LEAD_MS = 1_000;
const COMPARE_AGAIN_MS = 60_000;

/**
 * Which floor makes all nodes issue the same fence, so that one round trip is enough.
 *
 * A node issues the largest of its counter + 1, the floor + 1 and its own time. Left to themselves nodes differ by the
 * microseconds between their clocks. A floor above every node's time and counter makes all of them say floor + 1, and a
 * number that a majority has issued is one that a majority has written. So we send the last fence seen for the resource,
 * or our time plus a lead, whichever is larger. Fences then run ahead of the clock by the lead, which only has to be small
 * against what it protects: a node that lost everything votes again after the longest ttl, and by then its own time is
 * above every fence from before, as long as lead and clock differences together are below that ttl.
 *
 * A floor that is too low costs a second round and no safety. One far too high stays for ever, because counters never go
 * back; so the clock is used only after nodes asked without it have issued numbers that it isn't ahead of. They are asked
 * so again every minute, and when the wall clock was stepped.
 */
export class QuorumFloors {
  readonly #clock: Clock;
  readonly #leadMs: number;
  readonly #seen = new QuorumRecent<Fence>(REMEMBERED_RESOURCES);
  #compared: { readonly until: number; readonly apart: number } | undefined;

  constructor({ clock, longestTtlMs }: QuorumFloorsOptions) {
    this.#clock = clock;
    this.#leadMs = Math.min(longestTtlMs / 4, MAX_LEAD_MS);
  }

  floorFor({ resource, floor }: Pick<AcquireRequest, 'resource' | 'floor'>): Floor {
    const sentAtMs = this.#clock.now();
    const byTheClock = this.#isCompared() ? Math.floor((sentAtMs + this.#leadMs) * 1_000) : NO_FENCE;
    return {
      floor: Math.max(floor, this.#seen.get(resource) ?? NO_FENCE, byTheClock) as Fence,
      learn: (fences) => {
        this.#see(resource, fences);
        if (byTheClock === NO_FENCE) this.#compare(sentAtMs, fences);
      },
    };
  }

  #see(resource: string, fences: readonly Fence[]): void {
    this.#seen.set(resource, Math.max(this.#seen.get(resource) ?? NO_FENCE, ...fences) as Fence);
  }

  /** A fence is never below its node's time, so one far below our time shows that ours is ahead of that node's. */
  #compare(sentAtMs: number, fences: readonly Fence[]): void {
    const isAhead = (sentAtMs - this.#leadMs) * 1_000 > Math.min(...fences);
    this.#compared = isAhead ? undefined : { until: this.#clock.monotonic() + COMPARE_AGAIN_MS, apart: this.#apart };
  }

  #isCompared(): boolean {
    if (!this.#compared) return false;
    const { until, apart } = this.#compared;
    return this.#clock.monotonic() < until && Math.abs(this.#apart - apart) < this.#leadMs;
  }

  get #apart(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
