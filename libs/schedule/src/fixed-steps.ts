import type { Steps } from './steps.js';
import type { WallClock } from './wall-clock.js';
import { MAX_CHANGE, MAX_OFFSET, type Reading, type Zone } from './zone.js';
import type { BitField } from './field-grammar.js';
import type { DayTimes } from './day-times.js';

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

/**
 * The multiples of an interval since 1970-01-01T00:00:00Z: the same on every pod, whenever it started, and whatever clocks on
 * the wall show.
 */
export class EverySteps implements Steps {
  constructor(private readonly seconds: number) {}

  atOrAfter(from: number, limit: number): number {
    // Never -0, which is not the same instant to a comparison of records.
    const at = Math.ceil(from / this.seconds) * this.seconds + 0;
    return at <= limit ? at : Infinity;
  }

  atOrBefore(to: number, limit: number): number {
    const at = Math.floor(to / this.seconds) * this.seconds;
    return at >= limit ? at : -Infinity;
  }
}

const [DAY, HOUR, MINUTE] = [86_400, 3_600, 60];

/** After 400 years the calendar begins again, on the same weekday. */
const CYCLE_DAYS = 146_097;

/**
 * The shortest time between two instants in seconds, as the clock on the wall counts it: a day has 24 hours. Where clocks
 * change two instants may be closer by as much.
 * @param enough who only wants to know whether it is as long as this spares the search through the calendar; what comes
 *   back is then at least that, and no more than the truth
 */
export function shortestPeriod(clock: WallClock, enough = Infinity): number {
  const { hours, minutes, seconds, first, last } = clock.times;
  const withinDay = Math.min(
    closest(seconds),
    closest(minutes) * MINUTE - seconds.last + seconds.first,
    closest(hours) * HOUR - inHour(clock.times, 'last') + inHour(clock.times, 'first'),
  );
  // On two days nothing is closer than on two that follow each other.
  const least = Math.min(withinDay, DAY - last + first);
  if (least === withinDay || least >= enough) return least;
  return Math.min(withinDay, closestDays(clock) * DAY - last + first);
}

function inHour({ minutes, seconds }: DayTimes, end: 'first' | 'last'): number {
  return minutes[end] * MINUTE + seconds[end];
}

function closest({ values }: BitField): number {
  return values.reduce((least, value, n) => Math.min(least, value - (values[n - 1] ?? -Infinity)), Infinity);
}

function closestDays(clock: WallClock): number {
  let [least, before] = [Infinity, -Infinity];
  const until = CYCLE_DAYS + 366 * 8;
  for (let day = clock.dayAtOrAfter(0, until); day <= until && least > 1; day = clock.dayAtOrAfter(day + 1, until)) {
    [least, before] = [Math.min(least, day - before), day];
  }
  return least;
}
