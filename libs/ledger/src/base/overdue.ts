import type { Delivery } from './accepting.js';
import type { RunState } from './run-state.js';

/** A run that is due for a look, and its last delivery: that may be lost, or its worker gone. */
export interface OverdueRun extends Delivery {
  readonly state: RunState;
}

export interface OverdueRuns {
  readonly runs: readonly OverdueRun[];
  /** How many runs will be due for a look some time, these included; 0: nothing of the cron is open. */
  readonly watched: number;
  /** There are more runs, or more skip ranges, than are kept: `forget` may have something to do. */
  readonly surplus: boolean;
  /** How many notifications wait to be settled. */
  readonly notifications: number;
}

export interface OverdueOptions {
  /** A run that is shown is shown again after this many milliseconds. */
  readonly againMs: number;
  /** How many runs, and how many skip ranges, of a cron are kept. */
  readonly keep: number;
}
