import { DEFAULT_MAX_CATCH_UP, type CronDefinition } from '@fencepost/ledger/catalog';
import type { ClaimedOccurrence } from '@fencepost/ledger';
import type { SkipRange } from '@fencepost/ledger/run';
import type { Schedule } from '@fencepost/schedule';

/** A plan for one claim: the ranges of instants to skip, oldest first, and the occurrence to run. */
export interface Plan {
  readonly skips: readonly SkipRange[];
  readonly occurrence: ClaimedOccurrence | null;
}

type Policies = Pick<CronDefinition, 'misfire' | 'graceMs' | 'catchUpWindowMs' | 'maxCatchUp' | 'startDeadlineMs'>;

export interface PlanInput {
  readonly schedule: Pick<Schedule, 'next' | 'previous'>;
  readonly definition: Policies;
  /** The spread of the cron. */
  readonly spreadMs: number;
  /** Every instant up to this one is accounted for. */
  readonly cursor: number;
  /** Instants after this one belong to another generation, or may come to. */
  readonly until: number;
  readonly now: number;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Merged instants are counted one by one; beyond this many, the older ones count as outside the window. Instants within
 * their grace are always counted; a grace of at most a day bounds their number.
 */
const MAX_MERGED = 1_000;

const NONE: readonly SkipRange[] = [];

/**
 * Accounts for the instants in `(cursor, until]` that are due at `now`, or for the first of them: at most one runs, the others
 * are skipped with a reason. Lateness, grace, window and deadline count from the due time, which includes the
 * spread.
 *
 * `fire-once` merges the missed instants inside the catch-up window into the latest. `fire-all` runs the oldest of them and
 * leaves the later ones to the next plan. Instants older than the window are skipped as `misfire`. `null` if there is no
 * instant.
 *
 * An instant within its grace is never `misfire`, whatever the policy: it is merged into the occurrence that runs.
 *
 * The work is bounded however long no pod was live: by {@link MAX_MERGED} and the grace, or by `maxCatchUp`.
 */
export function planOccurrence(input: PlanInput): Plan | null {
  const { schedule, cursor, spreadMs } = input;
  // The spread delays all instants equally, so on a clock that is behind by the spread each is due at its instant.
  const last = Math.min(input.now - spreadMs, input.until);
  const first = schedule.next(cursor);
  if (first === null || first > last) return null;
  const second = schedule.next(first);
  const alone = second === null || second > last;
  if (alone && isOnTime(input, first)) return { skips: NONE, occurrence: occurrenceAt(first, spreadMs) };
  // Stepping on from the first instant finds the same one, but a week of seconds would take as many steps.
  const latest = alone ? first : (schedule.previous(last + 1) ?? first);
  return planMissed(input, latest);
}

/** More than one instant is due, or the only one is late. */
function planMissed(input: PlanInput, latest: number): Plan {
  const { cursor, definition, spreadMs } = input;
  const graceStart = input.now - spreadMs - graceOf(definition);
  // An occurrence within its grace is not missed, however short the window; only the start deadline is stricter.
  const window = definition.misfire === 'skip' ? 0 : catchUpWindow(input, latest);
  const windowStart = Math.min(graceStart, input.now - spreadMs - window);
  if (latest < windowStart) return { skips: [misfired(cursor, latest)], occurrence: null };
  const found = { latest, graceStart, windowStart, onTime: isOnTime(input, latest) };
  return definition.misfire === 'fire-all' ? fireOldest(input, found) : fireLatest(input, found);
}

interface Found {
  readonly latest: number;
  /** Instants from here on are within their grace. */
  readonly graceStart: number;
  readonly windowStart: number;
  readonly onTime: boolean;
}

/** Merges all missed instants into the latest. */
function fireLatest(input: PlanInput, { latest, graceStart, windowStart, onTime }: Found): Plan {
  const missed = missedBefore(input, { before: latest, windowStart, graceStart, max: MAX_MERGED });
  return merging(input, occurrenceAt(latest, input.spreadMs, onTime ? 'schedule' : 'catch-up'), missed);
}

/**
 * Runs missed instants too, one per plan; the latest counts as missed unless it is on time. If more are missed than may run,
 * the excess instants within their grace are merged into the first that runs.
 */
function fireOldest(input: PlanInput, { latest, graceStart, windowStart, onTime }: Found): Plan {
  const { definition, spreadMs } = input;
  const max = (definition.maxCatchUp ?? DEFAULT_MAX_CATCH_UP) - (onTime ? 0 : 1);
  const first = missedBefore(input, { before: latest, windowStart, graceStart: Infinity, max });
  const merged = missedBefore(input, { before: first.oldest, windowStart: graceStart, graceStart, max: 0 });
  const reason = onTime && first.oldest === latest ? 'schedule' : 'catch-up';
  return merging(input, occurrenceAt(first.oldest, spreadMs, reason), merged);
}

/** The occurrence covers the missed instants before it; older ones are skipped. */
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
  /** The oldest instant counted, or the start of the count. */
  readonly oldest: number;
  /** The latest instant that is older. */
  readonly older: number | null;
}

interface CountBack {
  readonly before: number;
  readonly windowStart: number;
  readonly graceStart: number;
  readonly max: number;
}

/** Counts back as far as the window reaches: no more than `max`, and those within their grace beyond that. */
function missedBefore(input: PlanInput, { before, windowStart, graceStart, max }: CountBack): Missed {
  let [count, oldest] = [0, before];
  let instant = instantBetween(input, before);
  while (instant !== null && instant >= windowStart && (count < max || instant >= graceStart)) {
    [count, oldest] = [count + 1, instant];
    instant = instantBetween(input, instant);
  }
  return { count, oldest, older: instant };
}

function isOnTime({ definition, now, spreadMs }: PlanInput, instant: number): boolean {
  return now - spreadMs - instant <= graceOf(definition);
}

/** An instant past its start deadline is late, whatever its grace. */
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
 * One period, or the grace if that is longer, at most a day: a run that was due yesterday is wanted, one of last week is
 * noise. Instants past their start deadline are outside the window.
 */
function catchUpWindow({ schedule, definition }: PlanInput, latest: number): number {
  const { catchUpWindowMs, startDeadlineMs = Infinity } = definition;
  if (catchUpWindowMs !== null) return Math.min(catchUpWindowMs, startDeadlineMs);
  const next = schedule.next(latest);
  return Math.min(next === null ? DAY_MS : next - latest, DAY_MS, startDeadlineMs);
}
