import type { BitField } from './bit-field.js';
import type { DayTimes } from './day-times.js';
import type { WallClock } from './wall-clock.js';

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
