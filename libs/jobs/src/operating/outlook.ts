import type { Catalog } from '../catalog/catalog.js';
import type { CatalogEntry } from '../catalog/definition.js';
import { wrong } from './order.js';
import { clockChangesOf, type ClockChange } from './outlook-clocks.js';
import { RhythmBook, type Rhythm } from './outlook-rhythms.js';

export interface OutlookQuery {
  /** How far to look, 1 to 168 hours; default 24. */
  readonly hours?: number;
  /** So many crons in one second are a stampede; default 10. */
  readonly threshold?: number;
}

/** So many crons are due in the same second. */
export interface Stampede {
  readonly at: number;
  /** The first {@link MOST_NAMED} by name. */
  readonly crons: readonly string[];
  readonly count: number;
}

/** What is to come of all crons that fire, paused ones included: a pause may end. Instants are epoch milliseconds. */
export interface Forecast {
  readonly from: number;
  readonly to: number;
  /** How many runs are due in each hour from `from` on. */
  readonly perHour: readonly { readonly at: number; readonly count: number }[];
  /** The {@link MOST_STAMPEDES} fullest seconds, the fullest first. */
  readonly stampedes: readonly Stampede[];
  readonly clockChanges: readonly ClockChange[];
  /** Of each cron when it is due next, the {@link MOST_NEXT} soonest. */
  readonly next: readonly { readonly cron: string; readonly at: number }[];
}

const HOUR_S = 3_600;
const MOST_STAMPEDES = 20;
const MOST_NAMED = 20;
const MOST_NEXT = 50;

/** What is due next, from the catalog alone. Schedules stay read from one look to the next. */
export class Outlook {
  readonly #book = new RhythmBook();

  constructor(private readonly ports: { readonly catalog: Pick<Catalog, 'read'> }) {}

  /** @throws {OperatorInputError} for a query that can't be */
  async ahead({ hours = 24, threshold = 10 }: OutlookQuery = {}): Promise<Forecast> {
    if (!Number.isInteger(hours) || hours < 1 || hours > 168)
      throw wrong('hours', 'a whole number from 1 to 168', hours);
    if (!Number.isInteger(threshold) || threshold < 2) throw wrong('threshold', 'a whole number from 2 on', threshold);
    const { entries, readAt } = await this.ports.catalog.read();
    return this.of(entries, { from: readAt, hours, threshold });
  }

  /** @internal */
  of(
    entries: readonly CatalogEntry[],
    { from, hours, threshold }: Required<OutlookQuery> & { readonly from: number },
  ): Forecast {
    const rhythms = this.#book.of(entries.filter(({ state }) => state === 'firing'));
    const start = Math.floor(from / 1_000) * 1_000 + 1_000;
    const seconds = countsOf(rhythms, start, hours * HOUR_S);
    const to = start + hours * HOUR_S * 1_000;
    return {
      ...{ from, to },
      perHour: Array.from({ length: hours }, (_, hour) => ({
        at: start + hour * HOUR_S * 1_000,
        count: sum(seconds.subarray(hour * HOUR_S, (hour + 1) * HOUR_S)),
      })),
      stampedes: stampedesOf(rhythms, { seconds, start, threshold }),
      clockChanges: clockChangesOf(entries, from, to),
      next: nextOf(rhythms, from, to),
    };
  }
}

/** How many runs are due in each second. */
function countsOf(rhythms: readonly Rhythm[], start: number, length: number): Uint32Array {
  const counts = new Uint32Array(length);
  for (const { schedule, bySpread } of rhythms) {
    const offsets = wholeSeconds(bySpread);
    // What was put off by a spread may have its instant before the time that is looked at.
    const most = [...offsets.keys()].reduce((a, b) => Math.max(a, b), 0) * 1_000;
    for (let at = schedule.next(start - most - 1); at !== null; at = schedule.next(at)) {
      const instant = (at - start) / 1_000;
      if (instant >= length) break;
      for (const [offset, crons] of offsets) {
        const second = instant + offset;
        if (second >= 0 && second < length) counts[second] = (counts[second] ?? 0) + crons;
      }
    }
  }
  return counts;
}

/** How many crons are put off by so many seconds: instants are whole ones. */
function wholeSeconds(bySpread: Rhythm['bySpread']): Map<number, number> {
  const offsets = new Map<number, number>();
  for (const [spreadMs, names] of bySpread) {
    const seconds = Math.floor(spreadMs / 1_000);
    offsets.set(seconds, (offsets.get(seconds) ?? 0) + names.length);
  }
  return offsets;
}

interface Counted {
  readonly seconds: Uint32Array;
  readonly start: number;
  readonly threshold: number;
}

function stampedesOf(rhythms: readonly Rhythm[], { seconds, start, threshold }: Counted): Stampede[] {
  const full: { second: number; count: number }[] = [];
  seconds.forEach((count, second) => {
    if (count >= threshold) full.push({ second, count });
  });
  const fullest = full.toSorted((a, b) => b.count - a.count || a.second - b.second).slice(0, MOST_STAMPEDES);
  return fullest.map(({ second, count }) => {
    const at = start + second * 1_000;
    return { at, count, crons: dueIn(rhythms, at).toSorted().slice(0, MOST_NAMED) };
  });
}

/** The crons that are due in one second. */
function dueIn(rhythms: readonly Rhythm[], at: number): string[] {
  return rhythms.flatMap(({ schedule, bySpread }) =>
    [...bySpread].flatMap(([spreadMs, names]) => {
      const instant = schedule.next(at - spreadMs - 1);
      return instant !== null && instant + spreadMs < at + 1_000 ? names : [];
    }),
  );
}

function nextOf(rhythms: readonly Rhythm[], from: number, to: number) {
  const soon = rhythms.flatMap(({ schedule, bySpread }) =>
    [...bySpread].flatMap(([spreadMs, names]) => {
      const instant = schedule.next(from - spreadMs);
      const at = (instant ?? Infinity) + spreadMs;
      return at < to ? names.map((cron) => ({ cron, at })) : [];
    }),
  );
  return soon.toSorted((a, b) => a.at - b.at || (a.cron < b.cron ? -1 : 1)).slice(0, MOST_NEXT);
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}
