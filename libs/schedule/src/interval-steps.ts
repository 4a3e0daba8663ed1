import type { Steps } from './steps.js';
import type { WallClock } from './wall-clock.js';
import { MAX_CHANGE, MAX_OFFSET, type Zone } from './zone.js';

/**
 * A schedule about elapsed time: every instant at which the clock on the wall shows a matching time. What lies in a gap
 * doesn't exist, and a repeated hour is run through twice.
 *
 * Walks from one interval of constant offset to the next, since within one, local times and instants map one to one.
 */
export class IntervalSteps implements Steps {
  constructor(
    private readonly clock: WallClock,
    private readonly zone: Zone,
  ) {}

  atOrAfter(from: number, limit: number): number {
    for (let at = from; at <= limit;) {
      const { offset, end } = this.zone.offsetIntervalAt(at);
      const instant = this.clock.atOrAfter(at + offset, limit + MAX_OFFSET) - offset;
      if (instant < end) return instant <= limit ? instant : Infinity;
      // A change nearby may turn the clocks back to a time that matches. None that is far away turns them back to before
      // `at`, so that whole years without a match are jumped.
      at = end - at > MAX_CHANGE ? Math.max(end, instant - MAX_CHANGE) : end;
    }
    return Infinity;
  }

  atOrBefore(to: number, limit: number): number {
    for (let at = to; at >= limit;) {
      const { offset, start } = this.zone.offsetIntervalAt(at);
      const instant = this.clock.atOrBefore(at + offset, limit - MAX_OFFSET) - offset;
      if (instant >= start) return instant >= limit ? instant : -Infinity;
      at = at - start > MAX_CHANGE ? Math.min(start - 1, instant + MAX_CHANGE) : start - 1;
    }
    return -Infinity;
  }
}
