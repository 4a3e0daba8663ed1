import type { DstRule } from '@fencepost/schedule';

/** What a clock on the wall shows. */
export interface Local {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Days of the month it lies in. */
  readonly length: number;
}

/** What an expression says, told by whoever made it up and not read from its text. */
export interface Told {
  readonly text: string;
  readonly fixed: boolean;
  says(local: Local): boolean;
}

const SHOWN = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The clock on the wall as if it were UTC, from what `Intl` prints of date and time; milliseconds. */
export function wallOf(timeZone: string, instant: number): number {
  const numeric = 'numeric';
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
  formats.set(timeZone, format);
  const shown = SHOWN.exec(format.format(instant));
  if (!shown) throw new Error(`Expected a date and a time, got "${format.format(instant)}".`);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = shown.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

export function localOf(wall: number): Local {
  const date = new Date(wall);
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    length: new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The slow way to know: reads the clock on the wall at every half minute of an interval of time, and needs no table, no
 * offset and no parser for what it says.
 */
export class WallOracle {
  readonly #samples: { readonly instant: number; readonly wall: number }[] = [];
  readonly #locals = new Map<number, Local>();
  readonly #step: number;

  constructor(timeZone: string, { from, to }: Range) {
    // Monrovia was 44 minutes and 30 seconds behind.
    const odd = [from, to].some((instant) => (wallOf(timeZone, instant) - instant) % 60_000 !== 0);
    this.#step = odd ? 30_000 : 60_000;
    for (let instant = from; instant <= to; instant += this.#step) {
      this.#samples.push({ instant, wall: wallOf(timeZone, instant) });
    }
  }

  /** The instants in `[from, to)`, which has to lie well within what was read. */
  instants(told: Told, rule: DstRule, { from, to }: Range): number[] {
    const found = new Set(told.fixed ? this.#fixed(told, rule) : this.#interval(told));
    return [...found].filter((instant) => instant >= from && instant < to).toSorted((a, b) => a - b);
  }

  #interval(told: Told): number[] {
    return this.#samples.filter(({ wall }) => told.says(this.#local(wall))).map(({ instant }) => instant);
  }

  #fixed(told: Told, rule: DstRule): number[] {
    const shown = new Map<number, number[]>();
    for (const { instant, wall } of this.#samples) shown.set(wall, [...(shown.get(wall) ?? []), instant]);
    const found: number[] = [];
    const [first, last] = [this.#samples[0]!.wall, this.#samples.at(-1)!.wall];
    for (let wall = first; wall <= last; wall += this.#step) {
      if (!told.says(this.#local(wall))) continue;
      const instants = shown.get(wall) ?? [];
      if (instants.length === 0) found.push(...this.#swallowed(wall, rule));
      else if (rule.repeat === 'both') found.push(...instants);
      else found.push(rule.repeat === 'first' ? Math.min(...instants) : Math.max(...instants));
    }
    return found;
  }

  #local(wall: number): Local {
    const local = this.#locals.get(wall) ?? localOf(wall);
    this.#locals.set(wall, local);
    return local;
  }

  #swallowed(wall: number, { gap }: DstRule): number[] {
    const after = this.#samples.findIndex((one, n) => one.wall > wall && (this.#samples[n - 1]?.wall ?? wall) < wall);
    const [before, end] = [this.#samples[after - 1]!, this.#samples[after]!];
    if (gap === 'skip') return [];
    return [gap === 'shift' ? before.instant + wall - before.wall : end.instant];
  }
}
