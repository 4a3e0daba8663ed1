import type { Fault } from '../fault.js';

/** What is done, for how long, and how it is mended; all of it is over when it resolves. */
export type Strike = (signal: AbortSignal, random: () => number) => Promise<void>;

/** A fault of a store that can always strike. */
export function storeFault(kind: string, strike: Strike, weight = 1): Fault {
  return {
    ...{ kind, target: 'store', weight },
    strike: async (random, signal) => {
      await strike(signal, random);
      return true;
    },
  };
}
