import type { CatalogEntry, CronDefinition, Generation } from '../catalog/definition.js';
import type { CronSchedule } from '../schedule/schedule.js';
import { spreadOf } from '../schedule/spread.js';

/** What all crons of the same expression, zone and rules have in common: everything but how far each is put off. */
export type SharedSchedule = Pick<CronSchedule, 'next' | 'previous' | 'spreadOverMs'>;

export interface SharedSchedules {
  /** `null` for a definition that this pod can't read. */
  of(definition: CronDefinition): SharedSchedule | null;
}

/** The instants in `(from, until]`, epoch milliseconds: those of one generation, and planned by its definition. */
export interface Segment {
  readonly definition: CronDefinition;
  readonly generation: number;
  /** `null`: nobody here can say which instants it has. */
  readonly schedule: SharedSchedule | null;
  /** How much later than its instants the cron is due. */
  readonly spreadMs: number;
  readonly from: number;
  /** Infinite for the newest generation. */
  readonly until: number;
}

const NONE: readonly Segment[] = [];

/** What is kept with a cron while it is held. */
export interface KeptNewest {
  readonly entry: CatalogEntry;
  newest: Segment | null;
}

/** The newest generation, worked out once for as long as the cron is held under it; `null` when it doesn't fire. */
export function newestSegment(held: KeptNewest, schedules: SharedSchedules): Segment | null {
  const { entry, newest } = held;
  if (entry.state !== 'firing') return null;
  if (newest?.definition === entry.definition && newest.generation === entry.generation) return newest;
  held.newest = segmentOf(entry, Infinity, schedules);
  return held.newest;
}

/**
 * What is left of the generations before, oldest first: nothing, as a rule.
 *
 * The instants before the oldest one that is kept belong to definitions nobody knows any more. They are one segment without
 * a schedule, and only where the ledger has accounted for some before: a new cron has missed nothing.
 */
export function leftoverSegments(
  entry: CatalogEntry,
  cursor: number | null,
  schedules: SharedSchedules,
): readonly Segment[] {
  const { past } = entry;
  if (cursor === null ? past.length === 0 : cursor >= entry.since) return NONE;
  const oldest = past[0] ?? entry;
  const segments: Segment[] = [];
  if (cursor !== null && cursor < oldest.since) segments.push(unknownSegment(oldest, cursor));
  past.forEach((generation, n) => {
    const until = (past[n + 1] ?? entry).since;
    if (generation.state !== 'firing' || until <= Math.max(cursor ?? 0, generation.since)) return;
    segments.push(segmentOf(generation, until, schedules));
  });
  return segments;
}

function segmentOf({ definition, generation, since }: Generation, until: number, schedules: SharedSchedules): Segment {
  const schedule = schedules.of(definition);
  const spreadMs = schedule === null ? 0 : spreadOf(definition.name, schedule.spreadOverMs);
  return { definition, generation, schedule, spreadMs, from: since, until };
}

function unknownSegment({ definition, generation, since }: Generation, from: number): Segment {
  return { definition, generation, schedule: null, spreadMs: 0, from, until: since };
}
