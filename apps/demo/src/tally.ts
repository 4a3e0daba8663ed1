import { lateBy, type Run, type SkipRange, type SkipReason } from '@fencepost/jobs';
import type { AppliedWrite, TurnedDown } from '@fencepost/lease/sinks';
import { percentile } from './percentile.js';

/** What the stores say of one cron. */
export interface CronEvidence {
  readonly cron: string;
  /** The definition that `instants` come from: what ran under another one is not held against it. */
  readonly generation: number;
  /** When its definition was accepted, epoch milliseconds: the observed interval is `(since, end]`. */
  readonly since: number;
  /** Every instant is accounted for up to here, says the ledger. */
  readonly cursor: number | null;
  /** Computed from the schedule here, never read from a pod or a store. Ascending. */
  readonly instants: readonly number[];
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
  readonly refusals: number;
}

export interface Evidence {
  /** No instant after this one counts, epoch milliseconds. */
  readonly end: number;
  readonly crons: readonly CronEvidence[];
  /** How often each idempotency key stands in the sink's journal. */
  readonly writes: ReadonlyMap<string, number>;
  readonly turnedDown: TurnedDown;
}

export type Skipped = Readonly<Record<SkipReason, number>>;

const NONE_SKIPPED: Skipped = { overlap: 0, merged: 0, misfire: 0, paused: 0, superseded: 0 };

export interface Tally {
  readonly occurrences: number;
  readonly runs: number;
  readonly duplicates: number;
  /** Instants the ledger has passed without a record, and effects that a succeeded run lacks. */
  readonly lost: number;
  /** Instants not reached yet, and runs not final yet. When nothing is waited for any more, these are missed as well. */
  readonly waiting: number;
  readonly staleRejected: number;
  readonly takeovers: number;
  readonly lateMsP50: number | null;
  readonly lateMsP99: number | null;
  readonly skipped: Skipped;
  readonly retried: number;
  readonly failed: number;
  /** Writes that the sink accepted, and those it recognised as repeated. */
  readonly writes: number;
  readonly repeated: number;
}

/**
 * Counts what happened, from the stores and the schedules alone.
 *
 * - **occurrences**: instants of each cron's schedule in `(since, end]`.
 *   What ran under an earlier definition of a cron that was changed meanwhile is not counted.
 * - **runs**: those with a run that ended, as succeeded, failed or cancelled.
 * - **duplicates**: every acceptance of an idempotency key by the sink after its first; every run of an instant after its
 *   first, and every run of the schedule's at an instant that the schedule doesn't have; every run after the first that wrote the same effect
 *   for one instant. One fault may show in several of these ways, and then counts in each.
 * - **lost**: instants up to the cursor with neither a run nor a recorded skip; and, because the runs of a cron all have
 *   the same effects, each effect that a succeeded run lacks in the journal while another succeeded run of its cron has it.
 * - **skipped**: instants that didn't run for a recorded reason: explained, so not missed.
 * - **staleRejected**: calls refused by the ledger and writes refused by the sink because of their fence.
 * - **takeovers**: per cron, how often two occurrences that follow each other were claimed by different holders under
 *   different fences.
 * - **lateMs**: from `dueAt` to the beginning of the first attempt, over all runs that began and can be late; nearest rank.
 */
export function tally(evidence: Evidence): Tally {
  const crons = evidence.crons.map((cron) => observed(cron, evidence.end));
  const written = effectsByRun(evidence.writes);
  const accounts = crons.map((cron) => account(cron));
  const runs = crons.flatMap((cron) => cron.runs);
  const late = runs.flatMap((run) => lateBy(run) ?? []);
  return {
    occurrences: sum(crons.map(({ instants }) => instants.length)),
    runs: sum(accounts.map(({ ended }) => ended)),
    duplicates: repetitions(evidence.writes) + rivals(written) + sum(accounts.map(({ surplus }) => surplus)),
    lost: sum(accounts.map(({ lost }) => lost)) + sum(crons.map((cron) => lackingEffects(cron.runs, written))),
    waiting: sum(accounts.map(({ waiting }) => waiting)),
    staleRejected: sum(crons.map(({ refusals }) => refusals)) + evidence.turnedDown.stale,
    takeovers: sum(crons.map((cron) => takeovers(cron.runs))),
    lateMsP50: percentile(late, 50),
    lateMsP99: percentile(late, 99),
    skipped: skippedIn(accounts),
    retried: runs.filter(({ attempt }) => attempt > 1).length,
    failed: runs.filter(({ state }) => state === 'failed').length,
    writes: sum([...evidence.writes.values()]),
    repeated: evidence.turnedDown.repeated,
  };
}

/** How often each idempotency key was accepted. */
export function timesWritten(journal: readonly AppliedWrite[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { idempotencyKey } of journal) times.set(idempotencyKey, (times.get(idempotencyKey) ?? 0) + 1);
  return times;
}

function observed(cron: CronEvidence, end: number): CronEvidence {
  const inside = (instant: number) => instant > cron.since && instant <= end;
  return {
    ...cron,
    instants: cron.instants.filter(inside),
    runs: cron.runs.filter(({ scheduledAt, generation }) => inside(scheduledAt) && generation === cron.generation),
  };
}

type Account = Record<'ended' | 'surplus' | 'lost' | 'waiting' | keyof Skipped, number>;

function account(cron: CronEvidence): Account {
  const count: Account = { ended: 0, surplus: 0, lost: 0, waiting: 0, ...NONE_SKIPPED };
  const runs = byInstant(cron.runs);
  for (const instant of cron.instants) {
    const [run, ...more] = runs.get(instant) ?? [];
    count[run ? wordFor(run) : wordWithoutRun(cron, instant)] += 1;
    count.surplus += more.length;
    runs.delete(instant);
  }
  // What is left stands at instants that neither the schedule has nor a person asked for.
  count.surplus += [...runs.values()].flat().filter(({ by }) => by === null).length;
  return count;
}

function skippedIn(accounts: readonly Account[]): Skipped {
  const reasons = Object.keys(NONE_SKIPPED) as SkipReason[];
  const counts = reasons.map((reason) => [reason, sum(accounts.map((each) => each[reason]))] as const);
  return Object.fromEntries(counts) as Record<SkipReason, number>;
}

function byInstant(runs: readonly Run[]): Map<number, Run[]> {
  const groups = new Map<number, Run[]>();
  for (const run of runs) groups.set(run.scheduledAt, [...(groups.get(run.scheduledAt) ?? []), run]);
  return groups;
}

function wordFor({ state, skipped }: Run): keyof Account {
  if (state === 'skipped') return skipped ?? 'lost';
  return state === 'succeeded' || state === 'failed' || state === 'cancelled' ? 'ended' : 'waiting';
}

function wordWithoutRun({ skips, cursor }: CronEvidence, instant: number): keyof Account {
  const range = skips.find(({ after, through }) => instant > after && instant <= through);
  if (range) return range.reason;
  return instant <= (cursor ?? 0) ? 'lost' : 'waiting';
}

function takeovers(runs: readonly Run[]): number {
  const inOrder = runs.toSorted((a, b) => a.scheduledAt - b.scheduledAt);
  return inOrder.filter((run, index) => {
    const previous = inOrder[index - 1];
    return previous && previous.claimFence !== run.claimFence && previous.claimedBy !== run.claimedBy;
  }).length;
}

function repetitions(writes: ReadonlyMap<string, number>): number {
  return sum([...writes.values()].map((times) => times - 1));
}

type EffectsByRun = ReadonlyMap<string, ReadonlySet<string>>;

/** A run's id has no slash; an effect's name may have some. */
function effectsByRun(writes: ReadonlyMap<string, number>): EffectsByRun {
  const effects = new Map<string, Set<string>>();
  for (const key of writes.keys()) {
    const end = key.indexOf('/');
    const runId = key.slice(0, end);
    effects.set(runId, (effects.get(runId) ?? new Set()).add(key.slice(end + 1)));
  }
  return effects;
}

/** Runs beyond the first that wrote the same effect for the same instant: their ids differ only after the instant. */
function rivals(written: EffectsByRun): number {
  const writers = new Map<string, number>();
  for (const [runId, effects] of written) {
    const instant = /^.+@\d+/.exec(runId)?.[0];
    if (instant === undefined) continue;
    for (const effect of effects) writers.set(`${instant}/${effect}`, (writers.get(`${instant}/${effect}`) ?? 0) + 1);
  }
  return sum([...writers.values()].map((count) => count - 1));
}

function lackingEffects(runs: readonly Run[], written: EffectsByRun): number {
  const succeeded = runs.filter(({ state }) => state === 'succeeded').map(({ id }) => written.get(id) ?? new Set());
  const all = new Set(succeeded.flatMap((effects) => [...effects]));
  return sum(succeeded.map((effects) => all.size - effects.size));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
