import type { Run } from '../../data/types.js';

export type BatchName = 'retry' | 'cancel' | 'resolve';

const FITTING: Readonly<Record<BatchName, ReadonlySet<Run['state']>>> = {
  retry: new Set<Run['state']>(['failed', 'cancelled']),
  cancel: new Set<Run['state']>(['claimed', 'enqueued', 'running', 'orphaned', 'uncertain']),
  resolve: new Set<Run['state']>(['uncertain']),
};

/** Those of the runs that an order may be carried out for. */
export function fittingRuns(order: BatchName, runs: readonly Run[]): readonly Run[] {
  return runs.filter(({ state }) => FITTING[order].has(state));
}

/** What each of the runs asks, so that no other question is answered. */
export function askedOf(runs: readonly Run[]) {
  return runs.flatMap(({ id: runId, attempt, unresolvedEffect }) => {
    if (!unresolvedEffect) return [];
    const { effect, item, since } = unresolvedEffect;
    return [{ runId, attempt, effect, item, since }];
  });
}

/** The API takes so many at once. */
const MAX_BATCH = 100;

export function batchesOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / MAX_BATCH);
  return Array.from({ length: count }, (_, n) => items.slice(n * MAX_BATCH, (n + 1) * MAX_BATCH));
}
