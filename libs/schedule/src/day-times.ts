import type { BitField } from './bit-field.js';

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
