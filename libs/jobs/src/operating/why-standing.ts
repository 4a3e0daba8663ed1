import type { CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import { reignsOf, type Reign } from '../audit/stretches.js';
import { parseSchedule } from '@fencepost/schedule';
import { generationsOf } from './known-cron.js';
import { localTime, type LocalTime, type When } from './why-when.js';
import { wallOf } from './why-words.js';

/** An instant, seen by the schedules of a cron. Epoch milliseconds. */
export interface Standing {
  readonly at: number;
  /** Whose instant it is, or would be; `null` from before anything that is known of the cron. */
  readonly reign: Reign | null;
  readonly isInstant: boolean;
  /** With the spread of the cron. */
  readonly dueAt: number;
  /** What clocks in its zone show in that second. */
  readonly local: LocalTime;
  /** The instant that the cron goes by instead, where clocks show this local time a second time. */
  readonly twin: number | null;
  /** A fixed time that does not exist, and that this instant stands for. */
  readonly movedFrom: LocalTime | null;
  readonly neighbours: { readonly before: number | null; readonly after: number | null };
}

export function reignsOfEntry(entry: CatalogEntry): Reign[] {
  return reignsOf(generationsOf(entry));
}

/** A time that somebody asks about, read. */
export interface MeantTime {
  readonly at: number;
  /** The local time that was asked about, where it was one. */
  readonly asked: LocalTime | null;
}

export function meantTime(when: When, reigns: readonly Reign[], now: number): MeantTime {
  switch (when.kind) {
    case 'instant':
      return { at: when.at, asked: null };
    case 'now':
      return { at: now, asked: null };
    case 'last':
      return { at: lastDue(reigns, now) ?? now, asked: null };
    case 'local':
      return ofLocal(when.wall, reigns);
  }
}

/** The cron's instant in the same second, where it has one: a time copied from a log has milliseconds, an instant has none. */
export function instantInSecond(at: number, reigns: readonly Reign[]): number {
  const second = secondOf(at);
  return isInstant(reigns, second) ? second : at;
}

/** The last instant that was due. */
function lastDue(reigns: readonly Reign[], now: number): number | null {
  for (const reign of reigns.toReversed()) {
    const at = previousIn(reign, now - reign.schedule.spreadMs + 1);
    if (at !== null) return at;
  }
  return null;
}

/** The instant that a definition in force then makes of a local time; else a time at which clocks show it, or jump over it. */
function ofLocal(wall: number, reigns: readonly Reign[]): MeantTime {
  const readings = reigns.toReversed().map((reign) => {
    const asked = localTime(wall, reign.schedule.timeZone);
    const standing = [...asked.instants, ...movedTo(asked)].filter((at) => reignAt(reigns, at) === reign);
    const instant = standing.find((at) => {
      const isNamed = asked.gap === null || movedFrom(at, reign)?.wall === wall;
      return isNamed && isInstantOf(reign, at);
    });
    return { asked, instant, other: standing[0] };
  });
  const found = readings.find(({ instant }) => instant !== undefined);
  if (found?.instant !== undefined) return { at: found.instant, asked: found.asked };
  const other = readings.find((reading) => reading.other !== undefined);
  if (other?.other !== undefined) return { at: other.other, asked: other.asked };
  // From before anything that is known of the cron.
  const asked = localTime(wall, reigns[0]?.schedule.timeZone ?? 'UTC');
  return { at: asked.instants[0] ?? asked.gap?.at ?? wall, asked };
}

/** For the rule `next-valid`; and as much later as the gap is long, for `shift`. */
function movedTo({ wall, gap }: LocalTime): number[] {
  return gap ? [gap.at, gap.at + (wall - gap.from)] : [];
}

export function standingOf(at: number, reigns: readonly Reign[]): Standing {
  const reign = reignAt(reigns, at);
  const zone = (reign ?? reigns[0])?.schedule.timeZone ?? 'UTC';
  const second = secondOf(at);
  const local = localTime(wallOf(second, zone), zone);
  return {
    ...{ at, reign, isInstant: isInstantOf(reign, at), dueAt: at + (reign?.schedule.spreadMs ?? 0), local },
    twin: local.instants.find((other) => other !== second && isInstant(reigns, other)) ?? null,
    movedFrom: reign && isInstantOf(reign, at) ? movedFrom(at, reign) : null,
    neighbours: { before: instantBefore(reigns, at), after: instantAfter(reigns, at) },
  };
}

function secondOf(at: number): number {
  return Math.floor(at / 1_000) * 1_000;
}

function reignAt(reigns: readonly Reign[], at: number): Reign | null {
  return reigns.findLast(({ generation }) => generation.since < at) ?? null;
}

function isInstant(reigns: readonly Reign[], at: number): boolean {
  return isInstantOf(reignAt(reigns, at), at);
}

function isInstantOf(reign: Reign | null, at: number): boolean {
  return reign !== null && reign.generation.state === 'firing' && reign.schedule.next(at - 1) === at;
}

/** Which local times an expression names is what it says in UTC, where clocks never change. */
function movedFrom(at: number, { generation, schedule }: Reign): LocalTime | null {
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

export function instantBefore(reigns: readonly Reign[], at: number): number | null {
  for (const reign of reigns.toReversed()) {
    const found = previousIn(reign, at);
    if (found !== null) return found;
  }
  return null;
}

export function instantAfter(reigns: readonly Reign[], at: number): number | null {
  for (const { generation, schedule, until } of reigns) {
    if (generation.state !== 'firing' || until <= at) continue;
    const found = schedule.next(Math.max(at, generation.since));
    if (found !== null && found <= until) return found;
  }
  return null;
}

function previousIn({ generation, schedule, until }: Reign, before: number): number | null {
  if (generation.state !== 'firing' || generation.since >= before) return null;
  const found = schedule.previous(Math.min(before, until + 1));
  return found !== null && found > generation.since ? found : null;
}
