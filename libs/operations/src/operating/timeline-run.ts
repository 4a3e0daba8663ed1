import type { Run } from '@fencepost/ledger/run';
import { lateBy, took } from './run-times.js';
import type { Outcome, TimelineItem } from './timeline-item.js';

export function itemOfRun(run: Run, graceMs: number): TimelineItem {
  const { id, scheduledAt, attempt } = run;
  return {
    ...{ scheduledAt, until: null, count: 1, outcome: outcomeOf(run, graceMs), reason: reasonOf(run), runId: id },
    ...{ lateByMs: lateBy(run), tookMs: took(run), attempt },
  };
}

/** What became of a run, in a word. */
export function outcomeOf(run: Run, graceMs: number): Outcome {
  switch (run.state) {
    case 'skipped':
      return run.skipped === 'merged' ? 'merged' : 'skipped';
    case 'claimed':
    case 'enqueued':
    case 'orphaned':
      return 'waiting';
    case 'succeeded':
      if (run.attempt > 1) return 'retried';
      return (lateBy(run) ?? 0) > graceMs ? 'late' : 'ran';
    case 'running':
    case 'failed':
    case 'cancelled':
    case 'uncertain':
      return run.state;
  }
}

function reasonOf({ state, skipped, waiting, attempt, reason }: Run): string | null {
  if (state === 'skipped') return skipped === 'merged' ? null : skipped;
  if (state === 'orphaned') return 'orphaned';
  if (state === 'enqueued' && attempt > 0) return 'retry';
  return waiting ?? (reason === 'schedule' ? null : reason);
}
