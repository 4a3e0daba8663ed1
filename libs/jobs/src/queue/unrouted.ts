import type { AttemptLog } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface UnroutedDeps {
  readonly ledger: Pick<AttemptLog, 'noteWaiting'>;
  readonly telemetry: Telemetry;
}

/** Logs and records why runs wait: no live worker has their handler. Never rejects: they wait either way. */
export async function noteUnrouted({ ledger, telemetry }: UnroutedDeps, runIds: readonly string[]): Promise<void> {
  const noted = runIds.map(async (runId) => {
    const cron = cronOfRun(runId);
    telemetry.emit('run.unrouted', { cron, runId });
    try {
      await ledger.noteWaiting(runId, 'no-capable-worker');
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'run.note-waiting', cron, runId }, error);
    }
  });
  await Promise.all(noted);
}
