import type { CronDefinition } from '../catalog/definition.js';
import type { ClaimedOccurrence } from '../ledger/ledger.js';
import type { SkipRange } from '../ledger/run.js';
import type { CronSchedule } from '../schedule/schedule.js';

/** What to ask the ledger for: the ranges that won't run, oldest first, and the occurrence that will. */
export interface Plan {
  readonly skips: readonly SkipRange[];
  readonly occurrence: ClaimedOccurrence | null;
}

/** What a plan needs of a schedule. */
export type PlannedSchedule = Pick<CronSchedule, 'next' | 'previous' | 'spreadMs'>;

export interface PlanInput {
  readonly schedule: PlannedSchedule;
  readonly definition: Pick<CronDefinition, 'misfire' | 'graceMs' | 'catchUpWindowMs'>;
  /** Every instant up to here is accounted for. */
  readonly cursor: number;
  readonly now: number;
}

const DAY_MS = 24 * 3_600_000;

/** Merged instants are counted one by one; beyond this many the rest counts as outside the window. */
const MOST_MERGED = 1_000;

/**
 * Accounts for every instant after `cursor` that is due at `now`: the latest one runs, or nothing does, and the others get
 * their reason. Lateness, grace and window count from when an instant is due, which the spread puts off.
 *
 * `fire-once` merges the missed instants inside the catch-up window into the latest; what is older is `misfire`. `null`
 * when no instant lies in between.
 */
export function planOccurrence(input: PlanInput): Plan | null {
  const { schedule, definition, cursor } = input;
  // All instants are put off by the same time, so on a clock that is behind by it they are due when they come.
  const now = input.now - schedule.spreadMs;
  const latest = schedule.previous(now + 1);
  if (latest === null || latest <= cursor) return null;
  const earlier = instantBetween(schedule, cursor, latest);
  const late = now - latest > definition.graceMs;

  if (definition.misfire === 'skip') {
    if (late) return { skips: [misfired(cursor, latest)], occurrence: null };
    return { skips: earlier === null ? [] : [misfired(cursor, earlier)], occurrence: occurrenceAt(schedule, latest) };
  }
  const windowStart = now - catchUpWindow(input, latest);
  // Within its grace an occurrence is not missed, however short the window.
  if (late && latest < windowStart) return { skips: [misfired(cursor, latest)], occurrence: null };
  return fireOnce(input, latest, { earlier, windowStart, late });
}

interface Found {
  readonly earlier: number | null;
  readonly windowStart: number;
  readonly late: boolean;
}

function fireOnce({ schedule, cursor }: PlanInput, latest: number, found: Found): Plan {
  let [count, oldest] = [0, latest];
  let instant = found.earlier;
  while (instant !== null && instant >= found.windowStart && count < MOST_MERGED) {
    [count, oldest] = [count + 1, instant];
    instant = instantBetween(schedule, cursor, instant);
  }
  const skips: SkipRange[] = [];
  if (instant !== null) skips.push(misfired(cursor, instant));
  if (found.earlier === null || count === 0) {
    return { skips, occurrence: { ...occurrenceAt(schedule, latest), reason: found.late ? 'catch-up' : 'schedule' } };
  }
  skips.push({ after: instant ?? cursor, through: found.earlier, reason: 'merged' });
  const missed = { count, from: oldest, to: found.earlier };
  return { skips, occurrence: { ...occurrenceAt(schedule, latest), reason: 'catch-up', missed } };
}

function occurrenceAt({ spreadMs }: PlannedSchedule, scheduledAt: number): ClaimedOccurrence {
  return { scheduledAt, dueAt: scheduledAt + spreadMs, reason: 'schedule', missed: null };
}

function misfired(after: number, through: number): SkipRange {
  return { after, through, reason: 'misfire' };
}

/** The last instant in `(after, before)`. */
function instantBetween(schedule: PlannedSchedule, after: number, before: number): number | null {
  const instant = schedule.previous(before);
  return instant !== null && instant > after ? instant : null;
}

/** One period, at most a day: what was due yesterday is wanted, what was due last week is noise. */
function catchUpWindow({ schedule, definition }: PlanInput, latest: number): number {
  if (definition.catchUpWindowMs !== null) return definition.catchUpWindowMs;
  const next = schedule.next(latest);
  return next === null ? DAY_MS : Math.min(next - latest, DAY_MS);
}
