const DAY_MS = 24 * 3_600_000;

/** Longer than any change of the clocks but those across the date line, where a whole day is left out or lived again. */
const BEFORE_MS = 27 * 3_600_000;

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** A time zone as a pure function: how far its clocks are ahead of UTC, and when that changes. Milliseconds. */
export class Zone {
  readonly #format: Intl.DateTimeFormat | null;

  /** @throws {RangeError} for a name that `Intl` doesn't know */
  constructor(timeZone: string) {
    const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    this.#format = format.resolvedOptions().timeZone === 'UTC' ? null : format;
  }

  /** What is added to `instant` to get what a clock on the wall shows. */
  offset(instant: number): number {
    if (this.#format === null) return 0;
    const [, sign, hours, minutes, seconds = '0'] = OFFSET.exec(this.#format.format(instant)) ?? [];
    if (sign === undefined) return 0;
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
    return sign === '-' ? -ms : ms;
  }

  /** The first instant in `(from, to]` at which the offset is another one than at `from`; `null` without one. */
  nextChange(from: number, to: number): number | null {
    if (this.#format === null) return null;
    const offset = this.offset(from);
    // Day by day: no zone changes its clocks and back within one.
    for (let low = from; low < to; low += DAY_MS) {
      const high = Math.min(low + DAY_MS, to);
      if (this.offset(high) !== offset) return this.#between(low, high);
    }
    return null;
  }

  /** The last instant in `(from, to]` from which on the offset is that at `to`; `null` when it is so since `from`. */
  lastChange(from: number, to: number): number | null {
    if (this.#format === null) return null;
    const offset = this.offset(to);
    for (let high = to; high > from; high -= DAY_MS) {
      const low = Math.max(high - DAY_MS, from);
      if (this.offset(low) !== offset) return this.#between(low, high);
    }
    return null;
  }

  /** Whether a clock on the wall has shown before what it shows at `instant`: the second copy of a repeated hour. */
  isRepeated(instant: number): boolean {
    const change = this.lastChange(instant - BEFORE_MS, instant);
    return change !== null && instant < change + this.offset(change - 1) - this.offset(change);
  }

  /** The change between two instants with different offsets. */
  #between(before: number, after: number): number {
    const offset = this.offset(before);
    let [low, high] = [before, after];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offset(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }
}
