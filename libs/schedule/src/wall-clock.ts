import { highestBit, lowestBit } from './field-grammar.js';
import type { DayTimes, MonthDays } from './day-times.js';

const DAY = 86_400;
const DAY_MS = DAY * 1_000;

/**
 * An expression on the clock on the wall, which knows no zone and never changes: local times in seconds, written as if
 * they were UTC.
 */
export class WallClock {
  /** The month looked at last, in days since 1970: whoever asks once asks again nearby. */
  #start = 0;
  #end = 0;
  #bits = 0;

  constructor(
    readonly times: DayTimes,
    private readonly days: MonthDays,
  ) {}

  /** The first local time that is not before `wall`; `Infinity` when none comes up to the day of `limit`. */
  atOrAfter(wall: number, limit: number): number {
    const day = Math.floor(wall / DAY);
    if (this.#has(day)) {
      const time = this.times.atOrAfter(wall - day * DAY);
      if (time >= 0) return day * DAY + time;
    }
    return this.dayAtOrAfter(day + 1, limit / DAY) * DAY + this.times.first;
  }

  /** The last local time that is not after `wall`; `-Infinity` when none comes back to the day of `limit`. */
  atOrBefore(wall: number, limit: number): number {
    const day = Math.floor(wall / DAY);
    if (this.#has(day)) {
      const time = this.times.atOrBefore(wall - day * DAY);
      if (time >= 0) return day * DAY + time;
    }
    return this.#dayAtOrBefore(day - 1, limit / DAY) * DAY + this.times.last;
  }

  /** The first matching day, counted from 1970, from `from` up to `limit`; `Infinity` without one. */
  dayAtOrAfter(from: number, limit: number): number {
    for (let day = from; day <= limit; day = this.#end) {
      this.#enter(day);
      const rest = this.#bits >>> (day - this.#start);
      if (rest !== 0) return day + lowestBit(rest);
    }
    return Infinity;
  }

  #dayAtOrBefore(from: number, limit: number): number {
    for (let day = from; day >= Math.floor(limit); day = this.#start - 1) {
      this.#enter(day);
      const rest = this.#bits & (-1 >>> (31 - (day - this.#start)));
      if (rest !== 0) return this.#start + highestBit(rest);
    }
    return -Infinity;
  }

  #has(day: number): boolean {
    this.#enter(day);
    return ((this.#bits >>> (day - this.#start)) & 1) === 1;
  }

  #enter(day: number): void {
    if (day >= this.#start && day < this.#end) return;
    const date = new Date(day * DAY_MS);
    const [month, dayOfMonth, weekday] = [date.getUTCMonth(), date.getUTCDate(), date.getUTCDay()];
    this.#start = day - dayOfMonth + 1;
    // Not with `Date.UTC`, which takes the years 0 to 99 for those of the last century.
    this.#end = date.setUTCMonth(month + 1, 1) / DAY_MS;
    const firstWeekday = (weekday + 36 - dayOfMonth) % 7;
    this.#bits = this.days.bits(month + 1, firstWeekday, this.#end - this.#start);
  }
}
