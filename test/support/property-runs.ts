import type * as fc from 'fast-check';

/**
 * Random runs. FC_SEED replays them, the `seed` that a failure has printed; FC_PATH, its `path` up to the first colon, begins
 * with the run that failed.
 */
export function atMost(numRuns: number): fc.Parameters<unknown> {
  const { FC_SEED: seed, FC_PATH: path } = process.env;
  return { numRuns, ...(seed ? { seed: Number(seed) } : {}), ...(path ? { path } : {}) };
}
