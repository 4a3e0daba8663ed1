import type { Clock } from '@fencepost/lease';
import type { Ledger } from '@fencepost/ledger';
import { LazyAbort, execute, type CronHandler, type Disposition, type RunLog } from '@fencepost/jobs/internal';
import type { Telemetry } from '@fencepost/jobs';
import { FailPoints } from './fail-points.js';
import { faultyLedger } from './faulty-ledger.js';
import { WorkerProcess } from './worker-process.js';

export interface LogLine {
  readonly level: keyof RunLog;
  readonly message: string;
  /** From 1. */
  readonly attempt: number;
}

export interface TestWorkersDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Of a run, milliseconds. */
  readonly runLeaseMs: number;
  readonly handlerOf: (cron: string) => CronHandler | undefined;
}

/** `gone`: its worker was killed or frozen, and nobody will say. */
export type Outcome = Disposition | { readonly kind: 'gone' };

const GONE: Outcome = { kind: 'gone' };

/** Carries runs out with the code of a real worker, each delivery in a process of its own that can come to harm. */
export class TestWorkers {
  readonly points: FailPoints;
  readonly #work = new Map<WorkerProcess, Promise<unknown>>();
  readonly #log = new Map<string, LogLine[]>();
  #born = 0;

  constructor(private readonly deps: TestWorkersDeps) {
    this.points = new FailPoints(async (process) => this.#work.get(process));
  }

  /** What handlers have written to the logs of a run, in order. */
  log(runId: string): readonly LogLine[] {
    return this.#log.get(runId) ?? [];
  }

  /** Resolves when this delivery is through, or as soon as its worker has come to harm. */
  async deliver(runId: string): Promise<Outcome> {
    const process = new WorkerProcess(this.deps.clock);
    const work = this.#attempt(runId, process).finally(() => this.#work.delete(process));
    this.#work.set(process, work);
    return Promise.race([work, process.gone.then(() => GONE)]);
  }

  async #attempt(runId: string, process: WorkerProcess): Promise<Outcome> {
    const { ledger, telemetry, runLeaseMs: ttlMs, handlerOf } = this.deps;
    this.#born += 1;
    const worker = `worker/${this.#born}`;
    const own = faultyLedger(ledger, { process, points: this.points });
    // No jitter: the same test has the same instants each time.
    const deps = { ledger: own, clock: process.clock, telemetry, random: () => 1, worker, ttlMs, handlerOf };
    return execute(deps, this.#delivery(runId)).catch(failedWith);
  }

  #delivery(runId: string) {
    const lines = this.#log.get(runId) ?? [];
    this.#log.set(runId, lines);
    return {
      runId,
      givenUp: new LazyAbort(),
      log: (level: keyof RunLog, message: string, { attempt }: { readonly attempt: number }) =>
        void lines.push({ level, message, attempt }),
      progress: async () => undefined,
    };
  }
}

function failedWith(error: unknown): Outcome {
  return { kind: 'failed', error };
}
