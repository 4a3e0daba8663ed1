import type { Generation } from '@fencepost/ledger/catalog';
import { parseSchedule } from '@fencepost/schedule';
import type { CronSchedule } from '@fencepost/schedule';

/** Which nominal instants are looked at, epoch milliseconds. */
export interface AuditSpan {
  readonly from: number;
  /** The last one. */
  readonly to: number;
  /** Instants that were due later than this are left out: nobody may have begun them. By default `to`. */
  readonly dueBy?: number;
}

/** A generation with its schedule read. */
export interface Reign {
  readonly generation: Generation;
  readonly schedule: CronSchedule;
  /** The next one's `since`. */
  readonly until: number;
}

/** The part of a span that belongs to one generation: what lies in `(after, through]`. */
export interface Stretch extends Reign {
  readonly after: number;
  readonly through: number;
}

/** Oldest first, as they have to come. */
export function reignsOf(generations: readonly Generation[]): Reign[] {
  return generations.map((generation, index) => {
    const { definition, since } = generation;
    const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
    return { generation, schedule, until: generations[index + 1]?.since ?? Infinity };
  });
}

export function stretchesOf(reigns: readonly Reign[], { from, to, dueBy = to }: AuditSpan): Stretch[] {
  return reigns.flatMap((reign) => {
    const after = Math.max(reign.generation.since, from - 1);
    const through = Math.min(reign.until, to, dueBy - reign.schedule.spreadMs);
    return after < through ? [{ ...reign, after, through }] : [];
  });
}

/** None while the generation doesn't fire. */
export function* instantsOf({ generation, schedule, after, through }: Stretch): Generator<number, void, undefined> {
  if (generation.state === 'firing') yield* schedule.between(after + 1, through + 1);
}

/** Where a part of the span ends that has at most `most` instants. */
export function endOfPart(reigns: readonly Reign[], span: AuditSpan, most: number): number {
  let left = most;
  for (const stretch of stretchesOf(reigns, span)) {
    for (const instant of instantsOf(stretch)) if ((left -= 1) === 0) return instant;
  }
  return span.to;
}
