import { hasLateness, type Run } from '@fencepost/ledger/run';

/** How much later than due its first attempt began, milliseconds; `null` before that, and for a run without lateness. */
export function lateBy({ startedAt, dueAt, reason }: Pick<Run, 'startedAt' | 'dueAt' | 'reason'>): number | null {
  return startedAt === null || !hasLateness({ reason }) ? null : Math.max(0, startedAt - dueAt);
}

/** From the beginning of the first attempt to the end, milliseconds; `null` before that. */
export function took({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): number | null {
  return startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);
}
