import type { BitField } from './field-grammar.js';

const [HOUR, MINUTE] = [3_600, 60];

/** The seconds of a day that second, minute and hour of an expression let through. */
export class DayTimes {
  readonly first: number;
  readonly last: number;
  readonly #firstOfHour: number;
  readonly #lastOfHour: number;

  constructor(
    readonly hours: BitField,
    readonly minutes: BitField,
    readonly seconds: BitField,
  ) {
    this.#firstOfHour = minutes.first * MINUTE + seconds.first;
    this.#lastOfHour = minutes.last * MINUTE + seconds.last;
    this.first = hours.first * HOUR + this.#firstOfHour;
    this.last = hours.last * HOUR + this.#lastOfHour;
  }

  /** The first that is not before the second `time` of the day; -1 when the day has none left. */
  atOrAfter(time: number): number {
    const hour = Math.floor(time / HOUR);
    if (this.hours.has(hour)) {
      const found = this.#inHourAfter(time - hour * HOUR);
      if (found >= 0) return hour * HOUR + found;
    }
    const later = this.hours.atOrAfter(hour + 1);
    return later < 0 ? -1 : later * HOUR + this.#firstOfHour;
  }

  /** The last that is not after the second `time` of the day; -1 when there was none yet. */
  atOrBefore(time: number): number {
    const hour = Math.floor(time / HOUR);
    if (this.hours.has(hour)) {
      const found = this.#inHourBefore(time - hour * HOUR);
      if (found >= 0) return hour * HOUR + found;
    }
    const earlier = this.hours.atOrBefore(hour - 1);
    return earlier < 0 ? -1 : earlier * HOUR + this.#lastOfHour;
  }

  #inHourAfter(time: number): number {
    const minute = Math.floor(time / MINUTE);
    if (this.minutes.has(minute)) {
      const second = this.seconds.atOrAfter(time - minute * MINUTE);
      if (second >= 0) return minute * MINUTE + second;
    }
    const later = this.minutes.atOrAfter(minute + 1);
    return later < 0 ? -1 : later * MINUTE + this.seconds.first;
  }

  #inHourBefore(time: number): number {
    const minute = Math.floor(time / MINUTE);
    if (this.minutes.has(minute)) {
      const second = this.seconds.atOrBefore(time - minute * MINUTE);
      if (second >= 0) return minute * MINUTE + second;
    }
    const earlier = this.minutes.atOrBefore(minute - 1);
    return earlier < 0 ? -1 : earlier * MINUTE + this.seconds.last;
  }
}

/** What an expression says of days, with 0 or 7 for Sunday already one. */
export interface DayRule {
  readonly months: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  /** `L` as day of the month. */
  readonly lastDay: boolean;
  readonly weekdays: ReadonlySet<number>;
  /** `MON#2` is 2, for all of `weekdays`; 0 for every week. */
  readonly nth: number;
  /** `FRIL`. */
  readonly lastWeekdays: ReadonlySet<number>;
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
}

/** Which days of a month match, as bits. There are only 28 kinds of month, so that each is worked out once. */
export class MonthDays {
  readonly #kinds = new Map<number, number>();

  constructor(private readonly rule: DayRule) {}

  /** The bit 0 is the first. `firstWeekday` is that of the first, 0 for Sunday. */
  bits(month: number, firstWeekday: number, length: number): number {
    if (!this.rule.months.has(month)) return 0;
    const kind = firstWeekday * 32 + length;
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    let bits = 0;
    for (let day = 1; day <= length; day += 1) {
      if (this.#matches(day, (firstWeekday + day - 1) % 7, length)) bits |= 1 << (day - 1);
    }
    this.#kinds.set(kind, bits);
    return bits;
  }

  /** Both restricted: either matches, as Vixie's cron has it. */
  #matches(day: number, weekday: number, length: number): boolean {
    const { anyDay, anyWeekday, days, lastDay } = this.rule;
    const byDay = days.has(day) || (lastDay && day === length);
    if (anyWeekday) return byDay;
    const byWeekday = this.#matchesWeekday(weekday, { week: Math.ceil(day / 7), last: day + 7 > length });
    return byWeekday || (!anyDay && byDay);
  }

  #matchesWeekday(weekday: number, { week, last }: { readonly week: number; readonly last: boolean }): boolean {
    const { weekdays, nth, lastWeekdays } = this.rule;
    return (weekdays.has(weekday) && (nth === 0 || nth === week)) || (last && lastWeekdays.has(weekday));
  }
}
