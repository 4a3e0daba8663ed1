import { cronOfRun, isTerminal, type Run, type RunState } from '@fencepost/ledger/run';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Disposition } from './delivery.js';
import { reportStoreFailure, type FailedOperation } from '../telemetry/report-failure.js';
import { isProgramError } from '../telemetry/store-error.js';

/** How soon a delivery comes again after a store failed. */
const STORE_FAILED_MS = 1_000;

/** The same after a bug, which is still there a moment later. */
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

/** Nothing is known. The delivery is kept: a failed one would only come back with the sweep. */
export function afterFailure({ telemetry }: Teller, failed: FailedOnRun, error: unknown): Disposition {
  reportStoreFailure(telemetry, { cron: cronOfRun(failed.runId), ...failed }, error);
  return { kind: 'later', waitMs: isProgramError(error) ? PROGRAM_ERROR_MS : STORE_FAILED_MS };
}

/** Whether no worker has anything to do with the run any more. */
export function isOver({ state }: Run): boolean {
  return isTerminal(state) || state === 'uncertain';
}
