import type { RunState, Run } from '@fencepost/ledger/run';
import { isTerminal, cronOfRun } from '@fencepost/ledger/run';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Disposition } from './delivery.js';
import { tellTrouble } from '../telemetry/tell-trouble.js';

/** How soon a run is brought again of which the store told nothing. */
const UNKNOWN_MS = 1_000;

interface Teller {
  readonly telemetry: Telemetry;
}

/** Nothing is left to do for this delivery. */
export function needless({ telemetry }: Teller, runId: string, state: RunState | 'missing'): Disposition {
  telemetry.emit('attempt.needless', { cron: cronOfRun(runId), runId, state });
  return { kind: 'settled' };
}

/** Nothing is known. The delivery is kept: a failed one would only come back with the sweep. */
export function storeTrouble({ telemetry }: Teller, doing: string, error: unknown): Disposition {
  tellTrouble(telemetry, doing, error);
  return { kind: 'later', waitMs: UNKNOWN_MS };
}

/** Whether no worker has anything to do with the run any more. */
export function isOver({ state }: Run): boolean {
  return isTerminal(state) || state === 'uncertain';
}
