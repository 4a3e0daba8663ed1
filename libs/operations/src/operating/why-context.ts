import type { CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import { parseSchedule } from '@fencepost/schedule';
import { generationsOf } from '@fencepost/jobs/internal';
import { validityIntervalsOf, type ValidityInterval } from '../audit/validity-intervals.js';
import { localTime, type LocalTime, type When } from './why-when.js';
import { wallOf } from './why-words.js';

/** An instant, seen by the schedules of a cron. Epoch milliseconds. */
export interface InstantContext {
  readonly at: number;
  /** Whose instant it is, or would be; `null` from before anything that is known of the cron. */
  readonly interval: ValidityInterval | null;
  readonly isInstant: boolean;
  /** With the spread of the cron. */
  readonly dueAt: number;
  /** What clocks in its zone show in that second. */
  readonly local: LocalTime;
  /** The instant that the cron goes by instead, where clocks show this local time a second time. */
  readonly repeats: number | null;
  /** A fixed time that does not exist, and that this instant stands for. */
  readonly movedFrom: LocalTime | null;
  readonly neighbours: { readonly before: number | null; readonly after: number | null };
}

export function validityIntervalsOfEntry(entry: CatalogEntry): ValidityInterval[] {
  return validityIntervalsOf(generationsOf(entry));
}

/** A time that somebody asks about, read. */
export interface MeantTime {
  readonly at: number;
  /** The local time that was asked about, where it was one. */
  readonly asked: LocalTime | null;
}

export function meantTime(when: When, intervals: readonly ValidityInterval[], now: number): MeantTime {
  switch (when.kind) {
    case 'instant':
      return { at: when.at, asked: null };
    case 'now':
      return { at: now, asked: null };
    case 'last':
      return { at: lastDue(intervals, now) ?? now, asked: null };
    case 'local':
      return ofLocal(when.wall, intervals);
  }
}

/** The cron's instant in the same second, where it has one: a time copied from a log has milliseconds, an instant has none. */
export function instantInSecond(at: number, intervals: readonly ValidityInterval[]): number {
  const second = secondOf(at);
  return isInstant(intervals, second) ? second : at;
}

/** The last instant that was due. */
function lastDue(intervals: readonly ValidityInterval[], now: number): number | null {
  for (const interval of intervals.toReversed()) {
    const at = previousIn(interval, now - interval.schedule.spreadMs + 1);
    if (at !== null) return at;
  }
  return null;
}

/** The instant that a definition in force then makes of a local time; else a time at which clocks show it, or jump over it. */
function ofLocal(wall: number, intervals: readonly ValidityInterval[]): MeantTime {
  const readings = intervals.toReversed().map((interval) => {
    const asked = localTime(wall, interval.schedule.timeZone);
    const context = [...asked.instants, ...movedTo(asked)].filter((at) => intervalAt(intervals, at) === interval);
    const instant = context.find((at) => {
      const isNamed = asked.gap === null || movedFrom(at, interval)?.wall === wall;
      return isNamed && isInstantOf(interval, at);
    });
    return { asked, instant, other: context[0] };
  });
  const found = readings.find(({ instant }) => instant !== undefined);
  if (found?.instant !== undefined) return { at: found.instant, asked: found.asked };
  const other = readings.find((reading) => reading.other !== undefined);
  if (other?.other !== undefined) return { at: other.other, asked: other.asked };
  // From before anything that is known of the cron.
  const asked = localTime(wall, intervals[0]?.schedule.timeZone ?? 'UTC');
  return { at: asked.instants[0] ?? asked.gap?.at ?? wall, asked };
}

/** For the rule `next-valid`; and as much later as the gap is long, for `shift`. */
function movedTo({ wall, gap }: LocalTime): number[] {
  return gap ? [gap.at, gap.at + (wall - gap.from)] : [];
}

export function contextOf(at: number, intervals: readonly ValidityInterval[]): InstantContext {
  const interval = intervalAt(intervals, at);
  const zone = (interval ?? intervals[0])?.schedule.timeZone ?? 'UTC';
  const second = secondOf(at);
  const local = localTime(wallOf(second, zone), zone);
  return {
    ...{ at, interval, isInstant: isInstantOf(interval, at), dueAt: at + (interval?.schedule.spreadMs ?? 0), local },
    repeats: local.instants.find((other) => other !== second && isInstant(intervals, other)) ?? null,
    movedFrom: interval && isInstantOf(interval, at) ? movedFrom(at, interval) : null,
    neighbours: { before: instantBefore(intervals, at), after: instantAfter(intervals, at) },
  };
}

function secondOf(at: number): number {
  return Math.floor(at / 1_000) * 1_000;
}

function intervalAt(intervals: readonly ValidityInterval[], at: number): ValidityInterval | null {
  return intervals.findLast(({ generation }) => generation.since < at) ?? null;
}

function isInstant(intervals: readonly ValidityInterval[], at: number): boolean {
  return isInstantOf(intervalAt(intervals, at), at);
}

function isInstantOf(interval: ValidityInterval | null, at: number): boolean {
  return interval !== null && interval.generation.state === 'active' && interval.schedule.next(at - 1) === at;
}

/** Which local times an expression names is what it says in UTC, where clocks never change. */
function movedFrom(at: number, { generation, schedule }: ValidityInterval): LocalTime | null {
  if (schedule.kind !== 'fixed') return null;
  const named = parseSchedule(namesOf(generation), generation.since);
  const wall = named.previous(wallOf(at, schedule.timeZone) + 1);
  if (wall === null) return null;
  const asked = localTime(wall, schedule.timeZone);
  return asked.gap === null ? null : asked;
}

function namesOf({ definition }: Generation) {
  const { expression, name } = definition;
  return { expression, seed: name, timeZone: 'UTC' };
}

export function instantBefore(intervals: readonly ValidityInterval[], at: number): number | null {
  for (const interval of intervals.toReversed()) {
    const found = previousIn(interval, at);
    if (found !== null) return found;
  }
  return null;
}

export function instantAfter(intervals: readonly ValidityInterval[], at: number): number | null {
  for (const { generation, schedule, until } of intervals) {
    if (generation.state !== 'active' || until <= at) continue;
    const found = schedule.next(Math.max(at, generation.since));
    if (found !== null && found <= until) return found;
  }
  return null;
}

function previousIn({ generation, schedule, until }: ValidityInterval, before: number): number | null {
  if (generation.state !== 'active' || generation.since >= before) return null;
  const found = schedule.previous(Math.min(before, until + 1));
  return found !== null && found > generation.since ? found : null;
}
