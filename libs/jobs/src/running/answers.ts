import { cronOfRun, isTerminal, type Run, type RunState } from '@fencepost/ledger/run';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Disposition } from './delivery.js';
import { reportStoreFailure, isProgramError, type FailedOperation } from '../telemetry/report-failure.js';

/** A delivery comes again this long after a store failed. */
const STORE_FAILED_MS = 1_000;

/** The same after a bug, which would recur soon. */
const PROGRAM_ERROR_MS = 60_000;

interface Teller {
  readonly telemetry: Telemetry;
}

/** Nothing is left to do for this delivery. */
export function needless({ telemetry }: Teller, runId: string, state: RunState | 'missing'): Disposition {
  telemetry.emit('attempt.needless', { cron: cronOfRun(runId), runId, state });
  return { kind: 'settled' };
}

type FailedOnRun = FailedOperation & { readonly runId: string };

/** The outcome is unknown. The delivery is kept: a failed one would only come back at the next sweep. */
export function afterFailure({ telemetry }: Teller, failed: FailedOnRun, error: unknown): Disposition {
  reportStoreFailure(telemetry, { cron: cronOfRun(failed.runId), ...failed }, error);
  return { kind: 'later', waitMs: isProgramError(error) ? PROGRAM_ERROR_MS : STORE_FAILED_MS };
}

/** Whether the run needs no further attempt. */
export function isOver({ state }: Run): boolean {
  return isTerminal(state) || state === 'uncertain';
}
