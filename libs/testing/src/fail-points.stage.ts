import { expect } from 'vitest';
import type { Disposition } from '@fencepost/jobs/internal';
import { execute, LazyAbort } from '@fencepost/jobs/internal';
import type { EffectContext, IfUnknown, RunContext } from '@fencepost/jobs';
import { EffectUnknownError, Telemetry } from '@fencepost/jobs';
import { FailPoints, type Mishap, type Write } from './fail-points.js';
import { faultyLedger } from './faulty-ledger.js';
import { WorkerProcess } from './worker-process.js';
import { waitingRun, type EffectSandbox } from '../../../test/effects/effect-stores.js';

type Step = Extract<Write, 'begin' | 'beginEffect' | 'finishEffect' | 'finish'> | 'fn';

/** In the order a worker meets them; before and after `fn` is before and after the provider has done it. */
export const STEPS: readonly Step[] = ['begin', 'beginEffect', 'fn', 'finishEffect', 'finish'];
export const MISHAPS: readonly Mishap[] = ['crash', 'freeze', 'lose'];
export const ANSWERS = ['retry', 'ask', 'done', 'not-done', 'unknown', 'truth'] as const;

export interface Case {
  readonly step: Step;
  readonly when: 'before' | 'after';
  readonly mishap: Mishap;
  /** `ifUnknown`, or what the lookup says: always the same, or what is true. */
  readonly answer: (typeof ANSWERS)[number];
}

/** What became of one case. */
export interface Verdict {
  readonly state: string;
  /** How often `fn` was called. */
  readonly calls: number;
  /** How often the provider did it, and how often one does that honours idempotency keys. */
  readonly applied: number;
  readonly appliedByKey: number;
}

export function cases(): Case[] {
  const points = STEPS.flatMap((step) => (['before', 'after'] as const).map((when) => ({ step, when })));
  return points.flatMap((point) =>
    MISHAPS.flatMap((mishap) => ANSWERS.map((answer) => ({ ...point, mishap, answer }))),
  );
}

const EFFECT = 'charge';
const RETRY = { attempts: 5, delayMs: 1, maxDelayMs: 1 };
const MAX_DELIVERIES = 40;
/** Where a message gets lost, the worker asks again while its run lease lasts: nobody waits for the end of this one. */
const LOSING_LEASE_MS = 24_000;

/** One run of a handler with one effect, and one mishap on its way. */
class Trial {
  readonly #points = new FailPoints();
  readonly #keys = new Set<string>();
  readonly #frozen: { readonly process: WorkerProcess; readonly work: Promise<unknown> }[] = [];
  #calls = 0;
  #applied = 0;
  #due = true;
  #recorded = false;

  constructor(
    private readonly sandbox: EffectSandbox,
    private readonly of: Case,
  ) {
    const { step: write, when, mishap } = of;
    if (write !== 'fn') this.#points.plan({ mishap, when, write });
  }

  async run(): Promise<Verdict> {
    const runId = await waitingRun(this.sandbox);
    await this.#deliver(runId);
    for (const { process, work } of this.#frozen) {
      process.thaw();
      await this.sandbox.until(work);
    }
    const run = await this.sandbox.ledger.readRun(runId);
    const applied = { applied: this.#applied, appliedByKey: this.#keys.size };
    return { state: run?.state ?? 'missing', calls: this.#calls, ...applied };
  }

  /** Brings the run to one worker after the other, until nobody wants it again. */
  async #deliver(runId: string): Promise<void> {
    for (let n = 0; n < MAX_DELIVERIES; n += 1) {
      const process = new WorkerProcess(this.sandbox.clock);
      const work = this.#execute(runId, process);
      const outcome = await this.sandbox.until(Promise.race([work, process.gone.then(() => 'gone' as const)]));
      if (outcome === 'gone') {
        if (process.state === 'frozen') this.#frozen.push({ process, work });
      } else if (outcome.kind === 'later') await this.sandbox.wait(outcome.waitMs);
      else return;
    }
    throw new Error(`Expected ${runId} to end within ${MAX_DELIVERIES} deliveries.`);
  }

  #execute(runId: string, process: WorkerProcess): Promise<Disposition> {
    const { ledger, runLeaseMs } = this.sandbox;
    const own = this.#noting(faultyLedger(ledger, { process, points: this.#points }));
    const handler = { handle: (run: RunContext) => this.#handle(run, process), retry: RETRY };
    const deps = {
      ledger: own,
      clock: process.clock,
      telemetry: new Telemetry(),
      random: () => 0,
      worker: 'w/1',
      ttlMs: this.of.mishap === 'lose' ? LOSING_LEASE_MS : runLeaseMs,
    };
    const silent = { log: () => undefined, progress: async () => undefined };
    return execute({ ...deps, handlerOf: () => handler }, { runId, givenUp: new LazyAbort(), ...silent });
  }

  #noting(ledger: EffectSandbox['ledger']): EffectSandbox['ledger'] {
    const note = async (...args: Parameters<EffectSandbox['ledger']['finishEffect']>) => {
      const reply = await ledger.finishEffect(...args);
      if (args[2].kind === 'done' && reply !== 'stale') this.#recorded = true;
      return reply;
    };
    return new Proxy(ledger, { get: (target, name) => (name === 'finishEffect' ? note : Reflect.get(target, name)) });
  }

  #handle(run: RunContext, process: WorkerProcess): Promise<unknown> {
    return run.effect(EFFECT, (context) => this.#charge(context, process), { ifUnknown: this.#ifUnknown() });
  }

  async #charge({ idempotencyKey }: EffectContext, process: WorkerProcess): Promise<{ readonly receipt: string }> {
    expect(this.#recorded, 'an effect that is recorded as done is not called again').toBe(false);
    this.#calls += 1;
    await this.#meet('before', process);
    this.#applied += 1;
    this.#keys.add(idempotencyKey);
    await this.#meet('after', process);
    return { receipt: 'r-1' };
  }

  async #meet(when: Case['when'], process: WorkerProcess): Promise<void> {
    if (this.of.step !== 'fn' || this.of.when !== when || !this.#due) return;
    this.#due = false;
    if (this.of.mishap === 'lose') throw new EffectUnknownError('The connection to the provider broke.');
    process[this.of.mishap]();
    await process.pass();
  }

  #ifUnknown(): IfUnknown<{ readonly receipt: string }> {
    const { answer } = this.of;
    if (answer === 'retry' || answer === 'ask') return answer;
    return () => {
      const said = answer === 'truth' ? (this.#applied > 0 ? 'done' : 'not-done') : answer;
      return said === 'done' ? { done: { receipt: 'r-1' } } : said;
    };
  }
}

export function tryOut(sandbox: EffectSandbox, of: Case): Promise<Verdict> {
  return new Trial(sandbox, of).run();
}
