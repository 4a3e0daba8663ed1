import type { Run } from '@fencepost/ledger/run';
import { hasLateness } from '@fencepost/ledger/run';

export function itemOfRun(run: Run, graceMs: number): TimelineItem {
  const { id, scheduledAt, attempt, reason } = run;
  return {
    ...{ scheduledAt, until: null, count: 1, outcome: outcomeIn(run, graceMs), reason: reasonOf(run), runId: id },
    ...{ lateByMs: lateBy(run), tookMs: took(run), attempt },
    asked: reason === 'manual' || reason === 'backfill' ? reason : null,
  };
}

export function outcomeIn(run: Run, graceMs: number): Outcome {
  return outcomeOf(run, { retried: run.attempt > 1, late: (lateBy(run) ?? 0) > graceMs });
}

/** What became of a run, in a word. */
export function outcomeOf({ state, skipped }: Pick<Run, 'state' | 'skipped'>, { retried, late }: HowItWent): Outcome {
  switch (state) {
    case 'skipped':
      return skipped === 'merged' ? 'merged' : 'skipped';
    case 'claimed':
    case 'enqueued':
    case 'orphaned':
      return 'waiting';
    case 'succeeded':
      if (retried) return 'retried';
      return late ? 'late' : 'ran';
    case 'running':
    case 'failed':
    case 'cancelled':
    case 'uncertain':
      return state;
  }
}

interface HowItWent {
  readonly retried: boolean;
  readonly late: boolean;
}

function reasonOf({ state, skipped, waiting, attempt, reason }: Run): string | null {
  if (state === 'skipped') return skipped === 'merged' ? null : skipped;
  if (state === 'orphaned') return 'orphaned';
  if (state === 'enqueued' && attempt > 0) return 'retry';
  return waiting ?? (reason === 'schedule' ? null : reason);
}

/** What became of an instant, or of a run that somebody asked for, in a word. */
export type Outcome =
  | ('ran' | 'late' | 'running' | 'waiting' | 'retried' | 'failed' | 'cancelled')
  | ('uncertain' | 'skipped' | 'merged' | 'missed' | 'ahead');

/** What became of an instant, of several next to each other, or of a run that somebody asked for. */
export interface TimelineItem {
  /** The instant, of several the first. Epoch milliseconds, as all instants here. */
  readonly scheduledAt: number;
  /** The last of several, `null` for one. */
  readonly until: number | null;
  readonly count: number;
  readonly outcome: Outcome;
  readonly reason: string | null;
  /** Its run, or the one it was merged into. */
  readonly runId: string | null;
  readonly lateByMs: number | null;
  readonly tookMs: number | null;
  readonly attempt: number;
  /** Somebody asked for it; `null`: the schedule did. */
  readonly asked: 'manual' | 'backfill' | null;
}

export interface TimelinePart {
  readonly items: readonly TimelineItem[];
  /** The first instant that is left out because there were too many; `null` when none is. */
  readonly more: number | null;
}

/** The instants of a cron in a range, with their outcomes. */
export interface Timeline extends TimelinePart {
  readonly cron: string;
  readonly from: number;
  readonly to: number;
  /** The store's clock when it was looked at. */
  readonly now: number;
  /** Up to here the ledger may have forgotten what happened; such instants are left out. `null`: it has not. */
  readonly forgotten: number | null;
}

/** How much later than due its first attempt began, milliseconds; `null` before that, and for a run without lateness. */
export function lateBy({ startedAt, dueAt, reason }: Pick<Run, 'startedAt' | 'dueAt' | 'reason'>): number | null {
  return startedAt === null || !hasLateness({ reason }) ? null : Math.max(0, startedAt - dueAt);
}

/** From the beginning of the first attempt to the end, milliseconds; `null` before that. */
export function took({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): number | null {
  return startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);
}
