import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import { OperatorInputError } from '@fencepost/ledger';
import { inSlices } from './slices.js';
import { ScheduleIndex, type Rhythm } from './schedule-index.js';
import { zoneNamed } from '@fencepost/schedule';
import { clockChangesOf, type ClockChange } from './clock-changes.js';

export interface ForecastQuery {
  /** How far to look, 1 to 168 hours; default 24. */
  readonly hours?: number;
  /** So many crons in one second are a stampede; default 10. */
  readonly threshold?: number;
  /** An IANA time zone, by whose clocks hours begin; default UTC. */
  readonly timeZone?: string;
  /** Only crons with this tag. */
  readonly tag?: string | undefined;
}

/** What is due in one hour. */
export interface DueInHour {
  /** When the hour begins by the clocks of the zone; the first one may have begun before `from`. */
  readonly at: number;
  readonly count: number;
  /** The most that are due in one second of it. */
  readonly peak: number;
  /** The first such second; `null` where nothing is due. */
  readonly peakAt: number | null;
}

/** The crons that are due in one second. */
export interface DueAt {
  readonly at: number;
  /** The first {@link MAX_DUE} by name. */
  readonly crons: readonly string[];
  readonly count: number;
}

/** So many crons are due in the same second. */
export interface Stampede {
  readonly at: number;
  /** The first {@link MAX_NAMED} by name. */
  readonly crons: readonly string[];
  readonly count: number;
}

/** What is to come of all crons that fire, paused ones included: a pause may end. Instants are epoch milliseconds. */
export interface Forecast {
  readonly from: number;
  readonly to: number;
  /** From the hour of `from` to that of `to`; what is before `from` or after `to` is not counted. */
  readonly perHour: readonly DueInHour[];
  /** The {@link MAX_STAMPEDES} fullest seconds, the fullest first. */
  readonly stampedes: readonly Stampede[];
  readonly clockChanges: readonly ClockChange[];
  /** Of each cron when it is due next, the {@link MAX_NEXT} soonest. */
  readonly next: readonly { readonly cron: string; readonly at: number }[];
}

const HOUR_S = 3_600;
const MAX_STAMPEDES = 20;
const MAX_NAMED = 20;
const MAX_DUE = 500;
/** For how long ahead somebody may ask what is due at one instant: schedules are walked only to it. */
const MAX_AHEAD_DAYS = 366;
const MAX_NEXT = 50;
const SORTED_AT_ONCE = 1_000;
/** So many instants are counted; crons with the same schedule count once. Some five seconds of one processor. */
const MAX_STEPS = 10_000_000;
/** Whoever asks within this time is told the same. */
const KEPT_MS = 5_000;

/** What is due next, from the catalog alone. Schedules stay read from one look to the next. */
export class Forecasts {
  readonly #index = new ScheduleIndex();
  /** What was asked last: many people look at the same. */
  #kept: { readonly key: string; readonly forecast: Promise<Forecast> } | null = null;

  constructor(private readonly ports: { readonly catalog: Pick<Catalog, 'read'> }) {}

  /** @throws {OperatorInputError} for a query that can't be */
  async ahead({ hours = 24, threshold = 10, timeZone = 'UTC', tag }: ForecastQuery = {}): Promise<Forecast> {
    if (!Number.isInteger(hours) || hours < 1 || hours > 168)
      throw OperatorInputError.of('hours', 'a whole number from 1 to 168', hours);
    if (!Number.isInteger(threshold) || threshold < 2)
      throw OperatorInputError.of('threshold', 'a whole number from 2 on', threshold);
    const zone = namedZone(timeZone);
    const { version, entries, readAt } = await this.ports.catalog.read();
    const key = JSON.stringify([version, hours, threshold, timeZone, tag, Math.floor(readAt / KEPT_MS)]);
    if (this.#kept?.key === key) return this.#kept.forecast;
    const forecast = inSlices(this.#of(firing(entries, tag), { from: readAt, hours, threshold, zone }));
    this.#kept = { key, forecast };
    // One that was refused is refused again, with the same sentence.
    return forecast;
  }

  /**
   * Who is due in the second of `at`, of all or of those with a tag.
   * @throws {OperatorInputError} for an instant that is past, or over a year ahead
   */
  async dueAt(at: number, tag?: string): Promise<DueAt> {
    const { entries, readAt } = await this.ports.catalog.read();
    if (at < readAt - 1_000 || at > readAt + MAX_AHEAD_DAYS * 24 * HOUR_S * 1_000)
      throw OperatorInputError.of('at', `an instant from now to ${MAX_AHEAD_DAYS} days ahead`, new Date(at));
    const second = Math.floor(at / 1_000) * 1_000;
    const crons = (await inSlices(dueIn(this.#index.of(firing(entries, tag)), second))).toSorted();
    return { at: second, crons: crons.slice(0, MAX_DUE), count: crons.length };
  }

  *#of(
    entries: readonly CatalogEntry[],
    { from, hours, threshold, zone }: Required<Omit<ForecastQuery, 'timeZone' | 'tag'>> & { from: number; zone: Zone },
  ): Generator<void, Forecast, undefined> {
    const rhythms = this.#index.of(entries);
    const start = Math.floor(from / 1_000) * 1_000 + 1_000;
    const seconds = yield* countsOf(rhythms, start, hours * HOUR_S);
    const to = start + hours * HOUR_S * 1_000;
    const stampedes = yield* stampedesOf(rhythms, { seconds, start, threshold });
    return {
      ...{ from, to, stampedes },
      perHour: hoursOf(seconds, start, zone),
      clockChanges: clockChangesOf(entries, from, to),
      next: yield* nextOf(rhythms, from, to),
    };
  }
}

function firing(entries: readonly CatalogEntry[], tag: string | undefined): CatalogEntry[] {
  const active = entries.filter(({ state }) => state === 'active');
  return tag === undefined ? active : active.filter(({ definition }) => definition.tags?.includes(tag));
}

/** How many runs are due in each second. */
function* countsOf(rhythms: readonly Rhythm[], start: number, length: number): Generator<void, Uint32Array, undefined> {
  const counts = new Uint32Array(length);
  let left = MAX_STEPS;
  for (const { schedule, bySpread } of rhythms) {
    const offsets = wholeSeconds(bySpread);
    // What was put off by a spread may have its instant before the time that is looked at.
    const most = [...offsets.keys()].reduce((a, b) => Math.max(a, b), 0) * 1_000;
    for (let at = schedule.next(start - most - 1); at !== null; at = schedule.next(at)) {
      const instant = (at - start) / 1_000;
      if (instant >= length) break;
      left -= offsets.size;
      if (left < 0) throw tooMany(length / HOUR_S);
      for (const [offset, crons] of offsets) {
        const second = instant + offset;
        if (second >= 0 && second < length) counts[second] = (counts[second] ?? 0) + crons;
      }
      yield;
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

function* stampedesOf(
  rhythms: readonly Rhythm[],
  { seconds, start, threshold }: Counted,
): Generator<void, Stampede[], undefined> {
  let fullest: { readonly second: number; readonly count: number }[] = [];
  for (const [second, count] of seconds.entries()) {
    if (count >= threshold) fullest.push({ second, count });
    if (fullest.length >= SORTED_AT_ONCE) fullest = fullestOf(fullest);
    if (second % SORTED_AT_ONCE === 0) yield;
  }
  const stampedes: Stampede[] = [];
  for (const { second, count } of fullestOf(fullest)) {
    const at = start + second * 1_000;
    const due = yield* dueIn(rhythms, at);
    stampedes.push({ at, count, crons: due.toSorted().slice(0, MAX_NAMED) });
  }
  return stampedes;
}

function fullestOf(seconds: readonly { readonly second: number; readonly count: number }[]) {
  return seconds.toSorted((a, b) => b.count - a.count || a.second - b.second).slice(0, MAX_STAMPEDES);
}

/** The crons that are due in one second. */
function* dueIn(rhythms: readonly Rhythm[], at: number): Generator<void, string[], undefined> {
  const due: string[] = [];
  for (const { schedule, bySpread } of rhythms) {
    for (const [spreadMs, names] of bySpread) {
      const instant = schedule.next(at - spreadMs - 1);
      if (instant !== null && instant + spreadMs < at + 1_000) due.push(...names);
      yield;
    }
  }
  return due;
}

function* nextOf(rhythms: readonly Rhythm[], from: number, to: number): Generator<void, Forecast['next'], undefined> {
  const soon: { readonly cron: string; readonly at: number }[] = [];
  for (const { schedule, bySpread } of rhythms) {
    for (const [spreadMs, names] of bySpread) {
      const instant = schedule.next(from - spreadMs);
      const at = (instant ?? Infinity) + spreadMs;
      if (at < to) soon.push(...names.map((cron) => ({ cron, at })));
      yield;
    }
  }
  return soon.toSorted((a, b) => a.at - b.at || (a.cron < b.cron ? -1 : 1)).slice(0, MAX_NEXT);
}

type Zone = ReturnType<typeof zoneNamed>;

function namedZone(name: string): Zone {
  try {
    return zoneNamed(name);
  } catch {
    throw OperatorInputError.of('timeZone', 'an IANA time zone such as Europe/Berlin', name);
  }
}

/** By whole hours of the zone as its clocks are at the start; where they change in between, hours stay those of the start. */
function hoursOf(seconds: Uint32Array, start: number, zone: Zone): DueInHour[] {
  const first = start / 1_000;
  const { offset } = zone.offsetIntervalAt(first);
  const into = (((first + offset) % HOUR_S) + HOUR_S) % HOUR_S;
  const hours: DueInHour[] = [];
  for (let from = -into; from < seconds.length; from += HOUR_S) {
    const counts = seconds.subarray(Math.max(0, from), from + HOUR_S);
    const peak = Math.max(...counts);
    const peakAt = peak === 0 ? null : (first + Math.max(0, from) + counts.indexOf(peak)) * 1_000;
    hours.push({ at: (first + from) * 1_000, count: counts.reduce((sum, due) => sum + due, 0), peak, peakAt });
  }
  return hours;
}

function tooMany(hours: number): OperatorInputError {
  return new OperatorInputError(
    `Expected at most ${MAX_STEPS} instants in the forecast, but these crons have more within ${hours} h. Request fewer hours, such as hours=${Math.max(1, Math.floor(hours / 8))}.`,
  );
}
