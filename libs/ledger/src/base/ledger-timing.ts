/** How patient the ledger is, in milliseconds. A value, so that tests can hurry. */
export interface LedgerTiming {
  /** How far a pod's clock may run ahead of the store's before its claim counts as early. */
  readonly toleranceMs: number;
  /** A claimed run that is not confirmed by then is looked at. */
  readonly recoverMs: number;
  /** An enqueued run that has not begun by then is looked at. */
  readonly sweepMs: number;
  /** How long a finished run is kept. */
  readonly keepMs: number;
}

export const LEDGER_TIMING: LedgerTiming = {
  toleranceMs: 10,
  recoverMs: 5_000,
  sweepMs: 30_000,
  keepMs: 30 * 24 * 3_600_000,
};

/** Runs listed for a look by one call: enough to keep up, few enough not to hold the store. */
export const LEDGER_BATCH = 100;

/** Runs of one cron forgotten by one call: this takes a store two or three milliseconds. */
export const FORGET_BATCH = 500;

/** How soon a run that waits for another one of its cron is asked again at the latest: its predecessor may have ended. */
export const POSITION_MS = 1_000;

/**
 * Runs that are looked at to find the success before a run: as many as a cron keeps by default. A cron that has failed more
 * often than that in a row has none.
 */
export const MAX_LOOKED_BACK = 1_000;
