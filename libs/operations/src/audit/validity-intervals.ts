import type { Generation } from '@fencepost/ledger/catalog';
import { parseSchedule, type CronSchedule } from '@fencepost/schedule';

/** Which nominal instants are looked at, epoch milliseconds. */
export interface AuditSpan {
  readonly from: number;
  /** The last one. */
  readonly to: number;
  /** Instants that were due later than this are left out: nobody may have begun them. By default `to`. */
  readonly dueBy?: number;
}

/** A generation with its schedule read. */
export interface ValidityInterval {
  readonly generation: Generation;
  readonly schedule: CronSchedule;
  /** The next one's `since`. */
  readonly until: number;
}

/** The part of a span that belongs to one generation: what lies in `(after, through]`. */
export interface IntervalPart extends ValidityInterval {
  readonly after: number;
  readonly through: number;
}

/** Oldest first, as they have to come. */
export function validityIntervalsOf(generations: readonly Generation[]): ValidityInterval[] {
  return generations.map((generation, index) => {
    const { definition, since } = generation;
    const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
    return { generation, schedule, until: generations[index + 1]?.since ?? Infinity };
  });
}

export function intervalPartsOf(
  intervals: readonly ValidityInterval[],
  { from, to, dueBy = to }: AuditSpan,
): IntervalPart[] {
  return intervals.flatMap((interval) => {
    const after = Math.max(interval.generation.since, from - 1);
    const through = Math.min(interval.until, to, dueBy - interval.schedule.spreadMs);
    return after < through ? [{ ...interval, after, through }] : [];
  });
}

/** None while the generation doesn't fire. */
export function* instantsOf({
  generation,
  schedule,
  after,
  through,
}: IntervalPart): Generator<number, void, undefined> {
  if (generation.state === 'active') yield* schedule.between(after + 1, through + 1);
}

/** Where a part of the span ends that has at most `most` instants. */
export function endOfPart(intervals: readonly ValidityInterval[], span: AuditSpan, most: number): number {
  let left = most;
  for (const part of intervalPartsOf(intervals, span)) {
    for (const instant of instantsOf(part)) if ((left -= 1) === 0) return instant;
  }
  return span.to;
}
