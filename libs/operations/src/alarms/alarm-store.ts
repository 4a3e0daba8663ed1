/** What one pod wants to write: `is` in the place of `was`, and only there. `null`: nothing. */
export interface Swap {
  readonly cron: string;
  readonly was: string | null;
  readonly is: string | null;
}

export interface AlarmReading {
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  /** In the order asked for; `null` for none. */
  readonly records: readonly (string | null)[];
}

/**
 * Where pods keep what is wrong with which cron. Several may look at the same cron at the same time: of those that found the
 * same, one manages to write it, and tells.
 *
 * The mutes are kept beside them, under a name that no cron can have.
 *
 * Every implementation passes `test/contracts/alarm-store.contract.ts`.
 */
export interface AlarmStore {
  read(crons: readonly string[]): Promise<AlarmReading>;
  /** Which of them were written: those whose `was` was there. In the order given. */
  swap(swaps: readonly Swap[]): Promise<boolean[]>;
  /** Every cron of which something is kept. */
  names(): Promise<string[]>;
}
