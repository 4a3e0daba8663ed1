import { DEFAULT_MAX_CATCH_UP, type CronDefinition } from '@fencepost/ledger/catalog';
import type { ClaimedOccurrence } from '@fencepost/ledger';
import type { SkipRange } from '@fencepost/ledger/run';
import type { Schedule } from '@fencepost/schedule';

/** What to ask the ledger for: the ranges that won't run, oldest first, and the occurrence that will. */
export interface Plan {
  readonly skips: readonly SkipRange[];
  readonly occurrence: ClaimedOccurrence | null;
}

type Policies = Pick<CronDefinition, 'misfire' | 'graceMs' | 'catchUpWindowMs' | 'maxCatchUp' | 'startDeadlineMs'>;

export interface PlanInput {
  readonly schedule: Pick<Schedule, 'next' | 'previous'>;
  readonly definition: Policies;
  /** How much later than its instants the cron is due. */
  readonly spreadMs: number;
  /** Every instant up to here is accounted for. */
  readonly cursor: number;
  /** Instants after this one are not this plan's: they are another generation's, or may become it. */
  readonly until: number;
  readonly now: number;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Merged instants are counted one by one; beyond this many the rest counts as outside the window. Those within their grace
 * are counted however many they are, which a grace of a day bounds.
 */
const MAX_MERGED = 1_000;

const NONE: readonly SkipRange[] = [];

/**
 * Accounts for every instant in `(cursor, until]` that is due at `now`, or for the first of them: one runs, or none does,
 * and the others get their reason. Lateness, grace, window and deadline count from when an instant is due, which the
 * spread puts off.
 *
 * `fire-once` merges the missed instants inside the catch-up window into the latest; `fire-all` runs the oldest of them,
 * and leaves the ones after it to the next plan. What is older than the window is `misfire`. `null` when no instant lies in
 * between.
 *
 * An instant within its grace is never `misfire`, whatever the policy: it is merged into the occurrence that runs.
 *
 * However long nobody was there, the work is bounded: by {@link MAX_MERGED} and the grace, or by `maxCatchUp`.
 */
export function planOccurrence(input: PlanInput): Plan | null {
  const { schedule, cursor, spreadMs } = input;
  // All instants are put off by the same time, so on a clock that is behind by it they are due when they come.
  const last = Math.min(input.now - spreadMs, input.until);
  const first = schedule.next(cursor);
  if (first === null || first > last) return null;
  const second = schedule.next(first);
  const alone = second === null || second > last;
  if (alone && isOnTime(input, first)) return { skips: NONE, occurrence: occurrenceAt(first, spreadMs) };
  // The same instant as by going on from the first one, and a week of seconds is one step.
  const latest = alone ? first : (schedule.previous(last + 1) ?? first);
  return planMissed(input, latest);
}

/** More than one instant is due, or the only one is late. */
function planMissed(input: PlanInput, latest: number): Plan {
  const { cursor, definition, spreadMs } = input;
  const graceStart = input.now - spreadMs - graceOf(definition);
  // Within its grace an occurrence is not missed, however short the window; only the start deadline is stricter.
  const window = definition.misfire === 'skip' ? 0 : catchUpWindow(input, latest);
  const windowStart = Math.min(graceStart, input.now - spreadMs - window);
  if (latest < windowStart) return { skips: [misfired(cursor, latest)], occurrence: null };
  const found = { latest, graceStart, windowStart, onTime: isOnTime(input, latest) };
  return definition.misfire === 'fire-all' ? fireOldest(input, found) : fireLatest(input, found);
}

interface Found {
  readonly latest: number;
  /** From here on an instant is within its grace. */
  readonly graceStart: number;
  readonly windowStart: number;
  readonly onTime: boolean;
}

/** All missed ones become the latest. */
function fireLatest(input: PlanInput, { latest, graceStart, windowStart, onTime }: Found): Plan {
  const missed = missedBefore(input, { before: latest, windowStart, graceStart, most: MAX_MERGED });
  return merging(input, occurrenceAt(latest, input.spreadMs, onTime ? 'schedule' : 'catch-up'), missed);
}

/**
 * The missed ones run too, one plan for each: the latest is missed as well, unless it is on time. Of more than may run, those
 * within their grace are merged into the first that does.
 */
function fireOldest(input: PlanInput, { latest, graceStart, windowStart, onTime }: Found): Plan {
  const { definition, spreadMs } = input;
  const most = (definition.maxCatchUp ?? DEFAULT_MAX_CATCH_UP) - (onTime ? 0 : 1);
  const first = missedBefore(input, { before: latest, windowStart, graceStart: Infinity, most });
  const merged = missedBefore(input, { before: first.oldest, windowStart: graceStart, graceStart, most: 0 });
  const reason = onTime && first.oldest === latest ? 'schedule' : 'catch-up';
  return merging(input, occurrenceAt(first.oldest, spreadMs, reason), merged);
}

/** The occurrence runs for the missed ones before it, and what is older is left out. */
function merging(input: PlanInput, occurrence: ClaimedOccurrence, { count, oldest, older }: Missed): Plan {
  const skips: SkipRange[] = [];
  if (older !== null) skips.push(misfired(input.cursor, older));
  const latest = count === 0 ? null : instantBetween(input, occurrence.scheduledAt);
  if (latest === null) return { skips, occurrence };
  skips.push({ after: older ?? input.cursor, through: latest, reason: 'merged' });
  const missed = { count, from: oldest, to: latest };
  return { skips, occurrence: { ...occurrence, reason: 'catch-up', missed } };
}

interface Missed {
  readonly count: number;
  /** The oldest of those counted, or where the counting began. */
  readonly oldest: number;
  /** The latest of those that are older. */
  readonly older: number | null;
}

interface CountBack {
  readonly before: number;
  readonly windowStart: number;
  readonly graceStart: number;
  readonly most: number;
}

/** Counts back as far as the window reaches: no more than `most`, and those within their grace beyond that. */
function missedBefore(input: PlanInput, { before, windowStart, graceStart, most }: CountBack): Missed {
  let [count, oldest] = [0, before];
  let instant = instantBetween(input, before);
  while (instant !== null && instant >= windowStart && (count < most || instant >= graceStart)) {
    [count, oldest] = [count + 1, instant];
    instant = instantBetween(input, instant);
  }
  return { count, oldest, older: instant };
}

function isOnTime({ definition, now, spreadMs }: PlanInput, instant: number): boolean {
  return now - spreadMs - instant <= graceOf(definition);
}

/** What may not start any more is late whatever its grace. */
function graceOf({ graceMs, startDeadlineMs = Infinity }: Policies): number {
  return Math.min(graceMs, startDeadlineMs);
}

function occurrenceAt(
  scheduledAt: number,
  spreadMs: number,
  reason: ClaimedOccurrence['reason'] = 'schedule',
): ClaimedOccurrence {
  return { scheduledAt, dueAt: scheduledAt + spreadMs, reason, missed: null };
}

function misfired(after: number, through: number): SkipRange {
  return { after, through, reason: 'misfire' };
}

/** The last instant in `(cursor, before)`. */
function instantBetween({ schedule, cursor }: PlanInput, before: number): number | null {
  const instant = schedule.previous(before);
  return instant !== null && instant > cursor ? instant : null;
}

/**
 * One period, or the grace where that is longer, at most a day: what was due yesterday is wanted, what was due last week is
 * noise. What may not start any more is outside of it.
 */
function catchUpWindow({ schedule, definition }: PlanInput, latest: number): number {
  const { catchUpWindowMs, startDeadlineMs = Infinity } = definition;
  if (catchUpWindowMs !== null) return Math.min(catchUpWindowMs, startDeadlineMs);
  const next = schedule.next(latest);
  return Math.min(next === null ? DAY_MS : next - latest, DAY_MS, startDeadlineMs);
}
