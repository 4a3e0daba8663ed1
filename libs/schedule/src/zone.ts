/** All times here are whole seconds; an offset is what is added to an instant to get what a clock on the wall shows. */
const DAY = 86_400;

/** Clocks have been up to 15:56 hours away from UTC (Manila before 1845), and are never further. */
export const MAX_OFFSET = 16 * 3_600;

/** How far one change can move the clocks. A whole day was left out in Samoa in 2011. */
export const MAX_CHANGE = 2 * MAX_OFFSET;

/** Since 1965 no zone has changed its clocks twice within less than a week. */
const STRIDE = 3 * DAY;
const CHUNK = 128 * STRIDE;

/** Some 420 years: whoever asks for more than that gets it, and the memory of it goes. */
const MAX_CHUNKS = 400;

/** Instants `[start, end)` in which clocks don't change. */
export interface OffsetInterval {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  /** The offset just before `start`: the same one where an interval is cut for the table's sake. */
  readonly before: number;
}

/** What a local time is in a zone. */
export interface Reading {
  /** The instants at which clocks show it: mostly one, two in a repeated hour, none in a gap. In order. */
  readonly instants: readonly number[];
  /** The interval that begins with the gap it lies in. */
  readonly gap: OffsetInterval | null;
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
const ALWAYS: OffsetInterval = { start: -Infinity, end: Infinity, offset: 0, before: 0 };

/** A time zone as a pure function, from a table of its changes that is filled where somebody looks. */
export class Zone {
  readonly #format: Intl.DateTimeFormat | null;
  readonly #chunks = new Map<number, readonly OffsetInterval[]>();
  #last: OffsetInterval | null = null;

  /** @throws {RangeError} for a name that `Intl` doesn't know */
  constructor(timeZone: string) {
    const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    this.#format = format.resolvedOptions().timeZone === 'UTC' ? null : format;
  }

  /** The interval that an instant lies in. */
  offsetIntervalAt(instant: number): OffsetInterval {
    const last = this.#last;
    if (last !== null && instant >= last.start && instant < last.end) return last;
    const found = this.#format === null ? ALWAYS : this.#lookUp(instant);
    this.#last = found;
    return found;
  }

  /** When clocks show a local time, and what has swallowed it when they never do. */
  read(wall: number): Reading {
    const instants: number[] = [];
    let gap: OffsetInterval | null = null;
    let interval = this.offsetIntervalAt(wall - MAX_OFFSET);
    for (; interval.start <= wall + MAX_OFFSET; interval = this.offsetIntervalAt(interval.end)) {
      const instant = wall - interval.offset;
      if (instant >= interval.start && instant < interval.end) instants.push(instant);
      if (wall >= interval.start + interval.before && instant < interval.start) gap = interval;
      if (interval.end === Infinity) break;
    }
    return { instants, gap: instants.length === 0 ? gap : null };
  }

  #lookUp(instant: number): OffsetInterval {
    const index = Math.floor(instant / CHUNK);
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = this.#scan(index * CHUNK);
      if (this.#chunks.size >= MAX_CHUNKS) this.#chunks.clear();
      this.#chunks.set(index, chunk);
    }
    return chunk.find(({ end }) => instant < end) as OffsetInterval;
  }

  #scan(from: number): readonly OffsetInterval[] {
    const intervals: OffsetInterval[] = [];
    let [start, offset, before] = [from, this.#offset(from), this.#offset(from - 1)];
    for (let low = from; low < from + CHUNK; low += STRIDE) {
      const after = this.#offset(low + STRIDE - 1);
      if (after === offset) continue;
      // From the second before: a change may stand right at the border of two strides.
      const change = this.#change(Math.max(from, low - 1), low + STRIDE - 1);
      intervals.push({ start, end: change, offset, before });
      [start, offset, before] = [change, after, offset];
    }
    intervals.push({ start, end: from + CHUNK, offset, before });
    return intervals;
  }

  /** The first second with the offset of `to`, where that of `from` is another one. */
  #change(from: number, to: number): number {
    const offset = this.#offset(from);
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#offset(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }

  #offset(instant: number): number {
    const [, sign, hours, minutes, seconds = '0'] = OFFSET.exec(this.#format?.format(instant * 1_000) ?? '') ?? [];
    if (sign === undefined) return 0;
    const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return sign === '-' ? -offset : offset;
  }
}

/** As many as there are names: only what `Intl` knows gets in, and it knows them in any case of letters. */
const ZONES = new Map<string, Zone>();

/**
 * The zone of that name, with the table that everybody who asks for it shares.
 * @throws {RangeError} for a name that `Intl` doesn't know
 */
export function zoneNamed(timeZone: string): Zone {
  const name = timeZone.toLowerCase();
  const zone = ZONES.get(name) ?? new Zone(timeZone);
  ZONES.set(name, zone);
  return zone;
}

/**
 * The zone of a fixed offset from UTC, in minutes; `null` for what is no whole number of hours from -12 to 14. The names of the
 * IANA database have the sign the other way round.
 */
export function zoneOfOffset(minutes: number): string | null {
  const hours = minutes / 60;
  if (!Number.isInteger(hours) || hours < -12 || hours > 14) return null;
  if (hours === 0) return 'UTC';
  return `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}
