import type * as fc from 'fast-check';

/** Whether the specs take all the time they need: `npm run proof -- --only specs`. `npm test` has their short form. */
export const isLong = process.env['TEST_LENGTH'] === 'long';

const SHORTER = 3;

/**
 * Random runs, a third of them in the short form. FC_SEED replays them, the `seed` that a failure has printed; FC_PATH, its
 * `path` up to the first colon, begins with the run that failed.
 * FC_RUNS multiplies the runs: `npm run mutation` makes them fewer, because it repeats each property for many mutants.
 */
export function atMost(numRuns: number): fc.Parameters<unknown> {
  const { FC_RUNS: factor = '1', FC_SEED: seed, FC_PATH: path } = process.env;
  return {
    numRuns: Math.ceil((numRuns * Number(factor)) / (isLong ? 1 : SHORTER)),
    ...(seed ? { seed: Number(seed) } : {}),
    ...(path ? { path } : {}),
  };
}
