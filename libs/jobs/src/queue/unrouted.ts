import type { AttemptLog } from '@fencepost/ledger';
import { cronOfRun, type WaitReason } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { UNROUTED_QUEUE } from './routing.js';
import type { Targets } from './run-router.js';

export interface UnroutedDeps {
  readonly ledger: Pick<AttemptLog, 'noteWaiting'>;
  readonly telemetry: Telemetry;
}

/** Then all are forgotten: a run that still waits is noted and logged once more. */
const MAX_REMEMBERED = 10_000;

/**
 * Logs and records why runs wait: no live worker has their handler. An instant that is skipped because of such a run is recorded
 * with this reason. Never rejects: the runs wait either way.
 */
export class UnroutedRuns {
  readonly #noted = new Set<string>();

  constructor(private readonly deps: UnroutedDeps) {}

  /** Runs on their way: each that no worker can execute is noted once, however often it is found waiting. */
  async follow(runIds: readonly string[], { queues, taken }: Targets): Promise<void> {
    const isUnrouted = (_: string, n: number) => taken === null || queues[n] === UNROUTED_QUEUE;
    const fresh = runIds.filter((runId, n) => isUnrouted(runId, n) && !this.#noted.has(runId));
    const routed = runIds.filter((runId, n) => !isUnrouted(runId, n) && this.#noted.has(runId));
    if (fresh.length > 0) await this.#note(fresh);
    if (routed.length > 0) await this.clear(routed);
  }

  /** A worker has their handler now, and may have no slot for them. */
  async clear(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) this.#noted.delete(runId);
    await this.#record(runIds, null);
  }

  async #note(runIds: readonly string[]): Promise<void> {
    if (this.#noted.size + runIds.length > MAX_REMEMBERED) this.#noted.clear();
    for (const runId of runIds) {
      this.#noted.add(runId);
      this.deps.telemetry.emit('run.unrouted', { cron: cronOfRun(runId), runId });
    }
    await this.#record(runIds, 'no-capable-worker');
  }

  async #record(runIds: readonly string[], reason: WaitReason | null): Promise<void> {
    const { ledger, telemetry } = this.deps;
    const recorded = runIds.map(async (runId) => {
      try {
        await ledger.noteWaiting(runId, reason);
      } catch (error) {
        // Noted again when it is found waiting again.
        this.#noted.delete(runId);
        reportStoreFailure(telemetry, { operation: 'run.note-waiting', cron: cronOfRun(runId), runId }, error);
      }
    });
    await Promise.all(recorded);
  }
}
