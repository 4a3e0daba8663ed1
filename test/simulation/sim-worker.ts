import { LeaseLostError } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { CancelTimer } from '@fencepost/lease/internal';
import { FORMAT } from '@fencepost/ledger/format';
import type { Disposition, CronHandler } from '@fencepost/jobs/internal';
import { execute, LazyAbort } from '@fencepost/jobs/internal';
import { Declarer, PodReporter, type DeclarerOptions } from '@fencepost/jobs/internal/declaring';
import { ShutdownError } from '@fencepost/jobs';
import type { Telemetry } from '@fencepost/jobs';
import type { Cadence } from './cadence.js';
import type { Ports } from './ports.js';
import type { SimProcess } from './sim-process.js';
import type { Consumer, Job, SimQueue } from './sim-queue.js';
import { declarations, type Program } from './workload.js';

export interface SimWorkerDeps {
  readonly process: SimProcess;
  readonly ports: Ports;
  readonly cadence: Cadence;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly program: Program;
  readonly queue: SimQueue;
  readonly handlerOf: (cron: string) => CronHandler | undefined;
  /** Whether anything gets through between it and the queue. */
  readonly isHeard: () => boolean;
}

const CONCURRENCY = 10;

/** A worker process: declares the crons of its program, takes jobs, and turns each into an attempt with the code of a real one. */
export class SimWorker {
  readonly #executing = new Map<string, { readonly givenUp: LazyAbort; readonly work: Promise<unknown> }>();
  readonly #consumer: Consumer;
  readonly #reporter: PodReporter;
  #declarer: Declarer | null = null;
  #cancelDeclare: CancelTimer = () => {};
  #taking = false;
  #isReady = false;
  #isReporting = false;
  #isStopping = false;

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
    this.#reporter = reporterOf(deps);
  }

  /** With the minute that it has chosen itself, where it chooses one. */
  get program(): Program {
    return this.deps.program;
  }

  /** The number of what it declares; `null` before the store has given it one. */
  get revision(): number | null {
    return this.#declarer?.revision ?? null;
  }

  /** Whether it has declared, and goes on with it. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the registry hears of it: until the last of its runs has ended. */
  get isReporting(): boolean {
    return this.#isReporting;
  }

  start(): void {
    void this.#start();
  }

  /** Takes nothing new, and gives what is under way until the deadline; then it is told. */
  async stop(): Promise<void> {
    const { process, cadence } = this.deps;
    this.#taking = this.#isReady = false;
    this.#isStopping = true;
    this.#cancelDeclare();
    this.deps.queue.leave(this.#consumer);
    await Promise.race([this.#drained(), sleep(process.clock, cadence.drainMs)]);
    for (const { givenUp } of this.#executing.values()) givenUp.end(new ShutdownError());
    await Promise.race([this.#drained(), sleep(process.clock, cadence.retryMs)]);
    this.#isReporting = false;
    await this.#reporter.stop();
  }

  /** It is not there any more: nobody gives it jobs. */
  gone(): void {
    this.deps.queue.leave(this.#consumer);
  }

  /** In the order of a real one: its definitions count from when it can execute them, and is known to be live. */
  async #start(): Promise<void> {
    const { process, cadence, queue } = this.deps;
    const asked = <T>(ask: () => Promise<T>) => retryWhileLeased(process, cadence.retryMs, ask);
    const declarer = (this.#declarer = await asked(() => this.#enrol()));
    if (this.#isStopping) return;
    this.#taking = true;
    queue.join(this.#consumer);
    await this.#reporter.know(() => ({ revision: declarer.revision, running: this.#executing.size }));
    this.#isReporting = !this.#isStopping;
    await asked(() => declarer.declare());
    if (this.#isStopping) return;
    this.#isReady = true;
    this.#declareAgain();
  }

  #enrol(): Promise<Declarer> {
    const { process, ports, telemetry, cadence, program, random } = this.deps;
    const declared = declarations(program).map((one) => [one.definition.name, one] as const);
    const options: DeclarerOptions = {
      ...{ pod: process.name, app: program.app, explicit: null, declarations: new Map(declared) },
      timing: cadence.declaring,
      change: () => this.#reporter.change,
      lowest: () => FORMAT,
      catalogVersion: () => null,
    };
    return Declarer.enrol({ ...ports, clock: process.clock, telemetry, random }, options);
  }

  /** As the real one: what takes longer than the time until the next one is not waited for. */
  #declareAgain(): void {
    const { process, cadence } = this.deps;
    this.#cancelDeclare = process.clock.after(cadence.declareEveryMs, () => {
      this.#declarer?.repeat().catch(() => undefined);
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

/** What it says of itself; no rule depends on what is the same for all of them. */
function reporterOf({ process, ports, telemetry, cadence, program }: SimWorkerDeps): PodReporter {
  const { name: pod, clock } = process;
  const { runLeaseMs, sweepEveryMs, ttlMs: leaseTtlMs } = cadence;
  return new PodReporter({
    ...{ registry: ports.registry, clock, telemetry, everyMs: cadence.reportMs },
    watchLag: () => ({ take: () => 0, stop: () => {} }),
    facts: {
      ...{ pod, label: pod, roles: ['worker'], host: 'host', pid: 1, startedAt: clock.now() },
      ...{ version: '0.1.0', node: 'v24', zoneData: '2026a', app: program.app, ledger: 'redis' },
      // A process whose configuration is another one has the same code all the same.
      ...{ code: `${program.app} ${program.code}`, leaseTtlMs, runLeaseMs, sweepEveryMs },
    },
  });
}

function keyOf({ runId, delivery, token }: Job): string {
  return `${runId} ${delivery} ${token}`;
}

/** What a start needs, asked again until it is there. */
export async function retryWhileLeased<T>(process: SimProcess, everyMs: number, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await sleep(process.clock, everyMs);
    }
  }
}
