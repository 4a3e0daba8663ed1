import type { Stall } from '../pods/stall.js';

/** Branches in which somebody is refused, put off or asked, as they are told in the closing line. */
export const OBSERVATIONS = [
  ...(['claim.stale', 'claim.moved', 'claim.outdated', 'lease.preempted', 'lease.lost', 'run.redelivered'] as const),
  ...(['run.orphaned', 'takeover', 'attempt.refused', 'attempt.busy', 'attempt.needless', 'attempt.aborted'] as const),
  ...([
    'effect.late',
    'effect.known',
    'effect.unknown',
    'effect.unresolved',
    'skipped.overlap',
    'passed.merged',
  ] as const),
  ...(['passed.misfire', 'superseded', 'answered.done', 'answered.not-done', 'sink.stale', 'sink.repeated'] as const),
  ...(['store.failed', 'stalled', 'transaction.refused'] as const),
];

export type Observation = (typeof OBSERVATIONS)[number];

/** What a minute of chaos reliably provokes: a run in which one of these is missing has not tested it. */
const RELIABLE: readonly Observation[] = [
  ...(['claim.stale', 'lease.lost', 'run.redelivered', 'takeover', 'attempt.refused', 'attempt.aborted'] as const),
  ...(['effect.late', 'effect.unknown', 'effect.unresolved', 'answered.done', 'answered.not-done'] as const),
  ...(['store.failed', 'stalled'] as const),
];

export function sometimesOf(_ledger: 'redis' | 'postgres'): readonly Observation[] {
  return RELIABLE;
}

/** Past its lease, after the last look at it and before the claim is sent. */
export const SCHEDULER_STALLS: readonly Stall[] = [{ event: 'occurrence.claiming', every: 15, forMs: 2_500 }];

/** Past the run lease: before the ledger is asked for an effect, after that has acted, and before its attempt is finished. */
export const WORKER_STALLS: readonly Stall[] = [
  { event: 'effect.beginning', every: 30, forMs: 2_500 },
  { event: 'effect.acted', every: 8, forMs: 2_500, where: { cron: 'chaos-asked' } },
  { event: 'effect.finished', every: 40, forMs: 2_500 },
];
