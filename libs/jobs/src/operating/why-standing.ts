import type { CatalogEntry, Generation } from '../catalog/definition.js';
import { reignsOf, type Reign } from '../audit/stretches.js';
import { parseSchedule } from '../schedule/schedule.js';
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
  /** What clocks in its zone show then. */
  readonly local: LocalTime;
  /** A fixed time that does not exist, and that this instant stands for. */
  readonly movedFrom: LocalTime | null;
  readonly neighbours: { readonly before: number | null; readonly after: number | null };
}

export function reignsOfEntry(entry: CatalogEntry): Reign[] {
  return reignsOf(generationsOf(entry));
}

/** The instant that somebody means. */
export function instantOf(when: When, reigns: readonly Reign[], now: number): number {
  switch (when.kind) {
    case 'instant':
      return when.at;
    case 'now':
      return now;
    case 'last':
      return lastDue(reigns, now) ?? now;
    case 'local':
      return ofLocal(when.wall, reigns);
  }
}

/** The last instant that was due. */
function lastDue(reigns: readonly Reign[], now: number): number | null {
  for (const reign of reigns.toReversed()) {
    const at = previousIn(reign, now - reign.schedule.spreadMs + 1);
    if (at !== null) return at;
  }
  return null;
}

/** The one that the schedule makes of a local time; else the one at which clocks show it, or jump over it. */
function ofLocal(wall: number, reigns: readonly Reign[]): number {
  const reign = reignAt(reigns, wall) ?? reigns[0];
  const { instants, gap } = localTime(wall, reign?.schedule.timeZone ?? 'UTC');
  // As much later as the gap is long, for the rule `shift`.
  const moved = gap ? [gap.at, gap.at + (wall - gap.from)] : [];
  const candidates = [...instants, ...moved];
  return candidates.find((at) => isInstantOf(reignAt(reigns, at), at)) ?? candidates[0] ?? wall;
}

export function standingOf(at: number, reigns: readonly Reign[]): Standing {
  const reign = reignAt(reigns, at);
  const isInstant = isInstantOf(reign, at);
  const zone = (reign ?? reigns[0])?.schedule.timeZone ?? 'UTC';
  return {
    ...{ at, reign, isInstant, dueAt: at + (reign?.schedule.spreadMs ?? 0) },
    local: localTime(wallOf(at, zone), zone),
    movedFrom: reign && isInstant ? movedFrom(at, reign) : null,
    neighbours: { before: instantBefore(reigns, at), after: instantAfter(reigns, at) },
  };
}

function reignAt(reigns: readonly Reign[], at: number): Reign | null {
  return reigns.findLast(({ generation }) => generation.since < at) ?? null;
}

function isInstantOf(reign: Reign | null, at: number): boolean {
  return reign !== null && reign.generation.state === 'firing' && reign.schedule.next(at - 1) === at;
}

/** Which local times an expression names is what it says in UTC, where clocks never change. */
function movedFrom(at: number, { generation, schedule }: Reign): LocalTime | null {
  if (schedule.kind !== 'fixed') return null;
  const named = parseSchedule(namesOf(generation), at);
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
