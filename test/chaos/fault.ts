/** One kind of thing that goes wrong, on a stage that knows how to do it and how to mend it. */
export interface Fault {
  /** As it is counted, such as `sigkill` or `redis-frozen`. */
  readonly kind: string;
  /** Process faults and store faults strike side by side, each kind of target one at a time. */
  readonly target: 'process' | 'store';
  /** How often it is drawn, compared with the others; 1 where it isn't said. */
  readonly weight?: number;
  /**
   * Strikes, and resolves when what was struck works again, or is left to come back by itself.
   * @param random seeded; whatever it decides is decided by this
   * @param signal aborts at the end of the run: what was done is to be mended at once
   * @returns whether it could strike at all; what could not isn't counted
   */
  strike(random: () => number, signal: AbortSignal): Promise<boolean>;
}

/** What is done, for how long, and how it is mended; all of it is over when it resolves. */
type Strike = (signal: AbortSignal, random: () => number) => Promise<void>;

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
