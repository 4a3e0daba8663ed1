import type { RunState, Run } from '@fencepost/ledger/run';

const FINAL: readonly RunState[] = ['succeeded', 'failed', 'cancelled', 'skipped'];
const BEGUN: readonly RunState[] = ['running', 'orphaned', 'uncertain', 'succeeded', 'failed'];

/** What of a run's record can't be, in words that follow "its run"; `null` when all of it can. */
export function impossibility({ state, skipped, finishedAt, attempt }: Run): string | null {
  if (state === 'skipped' && skipped === null) return 'is skipped for no reason';
  if (state !== 'skipped' && skipped !== null) return `is ${state}, and skipped (${skipped})`;
  if (BEGUN.includes(state) && attempt === 0) return `is ${state}, and no attempt ever began`;
  if (FINAL.includes(state) !== (finishedAt !== null)) {
    return finishedAt === null ? `is ${state}, and never ended` : `is ${state}, and has ended`;
  }
  return null;
}
