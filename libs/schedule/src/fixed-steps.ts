import type { Steps } from './steps.js';
import type { WallClock } from './wall-clock.js';
import { MAX_CHANGE, MAX_OFFSET, type Reading, type Zone } from './zone.js';

/** What becomes of a local time that doesn't exist, and of one that comes twice. */
export interface DstRule {
  /** The first valid instant after the gap; nothing; or as much later as the gap is long. */
  readonly gap: 'next-valid' | 'skip' | 'shift';
  readonly repeat: 'first' | 'last' | 'both';
}

/**
 * A schedule about the clock on the wall: one local time on each of its days, and what the rule says where clocks change.
 *
 * Every local time has its instants, whoever asks and from where. That makes answers independent of where one starts.
 */
export class FixedSteps implements Steps {
  constructor(
    private readonly clock: WallClock,
    private readonly zone: Zone,
    private readonly rule: DstRule,
  ) {}

  atOrAfter(from: number, limit: number): number {
    const { offset, start, end } = this.zone.offsetIntervalAt(from);
    if (from - start > MAX_CHANGE) {
      const instant = this.clock.atOrAfter(from + offset, limit + MAX_OFFSET) - offset;
      if (instant < end - MAX_CHANGE) return instant <= limit ? instant : Infinity;
    }
    return this.#nearChangeAfter(from, limit);
  }

  atOrBefore(to: number, limit: number): number {
    const { offset, start, end } = this.zone.offsetIntervalAt(to);
    if (end - to > MAX_CHANGE) {
      const instant = this.clock.atOrBefore(to + offset, limit - MAX_OFFSET) - offset;
      if (instant > start + MAX_CHANGE) return instant >= limit ? instant : -Infinity;
    }
    return this.#nearChangeBefore(to, limit);
  }

  /** No local time is further than `MAX_OFFSET` from its instants, so that these are all that can come first. */
  #nearChangeAfter(from: number, limit: number): number {
    const [first, last] = [from - MAX_OFFSET, limit + MAX_OFFSET];
    let best = Infinity;
    for (let wall = this.clock.atOrAfter(first, last); wall <= Math.min(best + MAX_OFFSET, last);) {
      for (const instant of this.#instantsOf(wall)) if (instant >= from && instant < best) best = instant;
      wall = this.clock.atOrAfter(wall + 1, last);
    }
    return best <= limit ? best : Infinity;
  }

  #nearChangeBefore(to: number, limit: number): number {
    const [first, last] = [to + MAX_OFFSET, limit - MAX_OFFSET];
    let best = -Infinity;
    for (let wall = this.clock.atOrBefore(first, last); wall >= Math.max(best - MAX_OFFSET, last);) {
      for (const instant of this.#instantsOf(wall)) if (instant <= to && instant > best) best = instant;
      wall = this.clock.atOrBefore(wall - 1, last);
    }
    return best >= limit ? best : -Infinity;
  }

  #instantsOf(wall: number): readonly number[] {
    const { instants, gap } = this.zone.read(wall);
    if (gap !== null) return this.#afterGap(wall, gap);
    switch (this.rule.repeat) {
      case 'first':
        return instants.slice(0, 1);
      case 'last':
        return instants.slice(-1);
      case 'both':
        return instants;
    }
  }

  /** Clocks that had not been changed would show the local time later by as much as the gap is long. */
  #afterGap(wall: number, gap: NonNullable<Reading['gap']>): readonly number[] {
    switch (this.rule.gap) {
      case 'next-valid':
        return [gap.start];
      case 'shift':
        return [wall - gap.before];
      case 'skip':
        return [];
    }
  }
}
