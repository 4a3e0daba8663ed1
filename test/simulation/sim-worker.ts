import { LeaseLostError } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Disposition, CronHandler } from '@fencepost/jobs/internal';
import { execute, LazyAbort } from '@fencepost/jobs/internal';
import { ShutdownError } from '@fencepost/jobs';
import type { Telemetry } from '@fencepost/jobs';
import type { Cadence } from './cadence.js';
import type { Ports } from './ports.js';
import type { SimProcess } from './sim-process.js';
import type { Consumer, Job, SimQueue } from './sim-queue.js';
import { declarations, type BuildNumber } from './workload.js';

/** What a worker process was built from; only a higher `seq` redefines crons. */
export interface Build {
  readonly number: BuildNumber;
  readonly seq: number;
}

export interface SimWorkerDeps {
  readonly process: SimProcess;
  readonly ports: Ports;
  readonly cadence: Cadence;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly build: Build;
  readonly queue: SimQueue;
  readonly handlerOf: (cron: string) => CronHandler | undefined;
  /** Whether anything gets through between it and the queue. */
  readonly isHeard: () => boolean;
}

const CONCURRENCY = 10;
const SOURCE = 'simulation';

/** A worker process: declares the crons of its build, takes jobs, and turns each into an attempt with the code of a real one. */
export class SimWorker {
  readonly #executing = new Map<string, { readonly givenUp: LazyAbort; readonly work: Promise<unknown> }>();
  readonly #consumer: Consumer;
  #taking = false;

  constructor(private readonly deps: SimWorkerDeps) {
    const { process, isHeard } = deps;
    const isThere = () => process.runs && isHeard();
    this.#consumer = {
      isFree: () => this.#taking && this.#executing.size < CONCURRENCY && isThere(),
      isHeard: isThere,
      onStalled: (job) =>
        process.whenRuns(() => this.#executing.get(keyOf(job))?.givenUp.end(new LeaseLostError(job.runId, 'refused'))),
      deliver: (job) => this.#deliver(job),
    };
  }

  start(): void {
    void this.#start();
  }

  /** Takes nothing new, and gives what is under way until the deadline; then it is told. */
  async stop(): Promise<void> {
    const { process, cadence } = this.deps;
    this.#taking = false;
    this.deps.queue.leave(this.#consumer);
    await Promise.race([this.#drained(), sleep(process.clock, cadence.drainMs)]);
    for (const { givenUp } of this.#executing.values()) givenUp.end(new ShutdownError());
    await Promise.race([this.#drained(), sleep(process.clock, cadence.retryMs)]);
  }

  /** It is not there any more: nobody gives it jobs. */
  gone(): void {
    this.deps.queue.leave(this.#consumer);
  }

  async #start(): Promise<void> {
    const { process, cadence, queue } = this.deps;
    await retryWhileLeased(process, cadence.retryMs, () => this.#declare());
    this.#declareAgain();
    this.#taking = true;
    queue.join(this.#consumer);
  }

  async #declare(): Promise<void> {
    const { ports, build } = this.deps;
    await ports.catalog.declare(declarations(build.number), { seq: build.seq, source: SOURCE });
  }

  #declareAgain(): void {
    const { process, cadence } = this.deps;
    process.clock.after(cadence.declareEveryMs, () => {
      this.#declare().catch(() => undefined);
      this.#declareAgain();
    });
  }

  async #drained(): Promise<void> {
    await Promise.allSettled([...this.#executing.values()].map(({ work }) => work));
  }

  async #deliver(job: Job): Promise<Disposition> {
    const { process } = this.deps;
    const givenUp = new LazyAbort();
    const work = this.#attempt(job, givenUp);
    const key = keyOf(job);
    this.#executing.set(key, { givenUp, work });
    try {
      return await work;
    } finally {
      // What a frozen process has finished nobody hears before it is thawed, and of a dead one never.
      if (!process.runs) await process.pass();
      this.#executing.delete(key);
      if (!this.#consumer.isHeard()) this.#unheard();
    }
  }

  /** What the real worker tells when its queue does not answer. */
  #unheard(): void {
    this.deps.telemetry.emit('queue.failed', {
      operation: 'worker.run',
      err: new Error('Command timed out'),
    });
  }

  #attempt({ runId }: Job, givenUp: LazyAbort): Promise<Disposition> {
    const { process, ports, cadence, telemetry, random, handlerOf } = this.deps;
    const { clock, name: worker } = process;
    const { ledger } = ports;
    const { runLeaseMs: ttlMs } = cadence;
    const deps = { ledger, clock, telemetry, random, worker, ttlMs, handlerOf };
    return execute(deps, { runId, givenUp, log: () => {}, progress: async () => undefined });
  }
}

function keyOf({ runId, delivery, token }: Job): string {
  return `${runId} ${delivery} ${token}`;
}

/** What a start needs, asked again until it is there. */
export async function retryWhileLeased(
  process: SimProcess,
  everyMs: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch {
      await sleep(process.clock, everyMs);
    }
  }
}
