import type { Run } from '@fencepost/ledger/run';

/** Where a run stands in a list of runs of several crons. */
export interface RunPlace {
  /** When it came to be as it is; one that waits for an answer has no end yet. Epoch milliseconds. */
  readonly at: number;
  readonly id: string;
}

export function placeOf({ id, finishedAt, attemptedAt, claimedAt }: Run): RunPlace {
  return { at: finishedAt ?? attemptedAt ?? claimedAt, id };
}

/** What changed last comes first; of the same moment, the later instant. */
export function comparePlaces(a: RunPlace, b: RunPlace): number {
  return b.at - a.at || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

export function byLatest(a: Run, b: Run): number {
  return comparePlaces(placeOf(a), placeOf(b));
}
