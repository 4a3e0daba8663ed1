import type { Run, SkipRange } from '@fencepost/ledger/run';
import { itemOfRun, type Outcome } from './timeline-run.js';

/** So many of the newest runs and skips of a cron are looked at. */
export const MAX_MARKS = 30;

/** One of the newest runs or skips of a cron. Instants are epoch milliseconds. */
export interface CronMark {
  /** The nominal instant; of a range of skips the last one. */
  readonly at: number;
  readonly outcome: Outcome;
  /** Why, in a word: as in the timeline. */
  readonly reason: string | null;
  /** `null` for a range of skips, which has no run. */
  readonly runId: string | null;
  readonly dueAt: number;
  readonly endedAt: number | null;
  readonly tookMs: number | null;
  readonly lateByMs: number | null;
  /** Set for a run that the schedule did not ask for. */
  readonly asked: 'manual' | 'backfill' | null;
}

/** The newest runs and skips of a cron, and what follows from them. */
export interface CronHistory {
  /** Oldest first, at most {@link MAX_MARKS}. */
  readonly marks: readonly CronMark[];
  /** Of those that succeeded. */
  readonly duration: { readonly p50Ms: number; readonly p95Ms: number } | null;
  /** Of those that the schedule asked for. */
  readonly startDelayP95Ms: number | null;
}

/** @param graceMs how much later than due a run may begin before it counts as late */
export function historyOf(runs: readonly Run[], skips: readonly SkipRange[], graceMs: number): CronHistory {
  const found = [...runs.map((run) => markOfRun(run, graceMs)), ...skips.map(markOfSkip)];
  const marks = found.toSorted((a, b) => a.at - b.at).slice(-MAX_MARKS);
  const took = numbers(marks.filter(hasSucceeded), 'tookMs');
  const [p50Ms, p95Ms] = [percentile(took, 0.5), percentile(took, 0.95)];
  const duration = p50Ms === null || p95Ms === null ? null : { p50Ms, p95Ms };
  return { marks, duration, startDelayP95Ms: percentile(numbers(marks, 'lateByMs'), 0.95) };
}

export function hasSucceeded({ outcome }: Pick<CronMark, 'outcome'>): boolean {
  return outcome === 'ran' || outcome === 'late' || outcome === 'retried';
}

function markOfRun(run: Run, graceMs: number): CronMark {
  const { scheduledAt: at, outcome, reason, runId, lateByMs, tookMs } = itemOfRun(run, graceMs);
  const asked = run.reason === 'manual' || run.reason === 'backfill' ? run.reason : null;
  return { at, outcome, reason, runId, dueAt: run.dueAt, endedAt: run.finishedAt, tookMs, lateByMs, asked };
}

function markOfSkip({ through: at, reason }: SkipRange): CronMark {
  const outcome = reason === 'merged' ? 'merged' : 'skipped';
  const nothing = { runId: null, endedAt: null, tookMs: null, lateByMs: null, asked: null };
  return { at, outcome, reason: outcome === 'merged' ? null : reason, dueAt: at, ...nothing };
}

function numbers(marks: readonly CronMark[], field: 'tookMs' | 'lateByMs'): number[] {
  return marks.flatMap((mark) => mark[field] ?? []).toSorted((a, b) => a - b);
}

/** By the nearest rank, of numbers in order; `null` for none. */
function percentile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null;
}
