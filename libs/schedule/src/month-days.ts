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
