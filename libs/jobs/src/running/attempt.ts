import { sleep, StaleFenceError } from '@fencepost/lease';
import type { AttemptOutcome, AttemptRef, BeginReply } from '../ledger/ledger.js';
import type { RunState } from '../ledger/run-state.js';
import type { AttemptDeps, Carried, Carrier, CronHandler } from './carrier.js';
import { Effects } from './effects.js';
import { Ending, withSignal } from './ending.js';
import { RunCancelledError } from './errors.js';
import { Heartbeat } from './heartbeat.js';
import { isUnrecoverable, retryDelay } from './retry.js';
import type { RunContext, RunLog } from './run-context.js';

type Begun = Extract<BeginReply, { verdict: 'begun' }>;

const SETTLED: Carried = { kind: 'settled' };

export interface AttemptStart {
  readonly carrier: Carrier;
  readonly handler: CronHandler;
  readonly begun: Begun;
  readonly nonce: string;
  readonly sentAt: number;
}

/** One try of a run by this worker, from its begin to its finish. */
export class Attempt {
  readonly #ref: AttemptRef;
  readonly #about: { readonly cron: string; readonly runId: string; readonly attempt: number };
  readonly #end = new Ending();
  readonly #heartbeat: Heartbeat;
  #cancelled = false;

  constructor(
    private readonly deps: AttemptDeps,
    private readonly start: AttemptStart,
  ) {
    const { begun, nonce, sentAt, carrier } = start;
    this.#ref = { runId: carrier.runId, fence: begun.fence, nonce };
    this.#about = { cron: begun.run.cron, runId: carrier.runId, attempt: begun.attempt };
    const { ledger, clock, ttlMs, telemetry } = deps;
    const onTrouble = (error: unknown) => telemetry.emit('store.trouble', { doing: 'heartbeat', error: String(error) });
    const onLost = (error: Error) => this.#abort(error);
    const onCancelled = () => this.#cancel();
    this.#heartbeat = new Heartbeat(this.#ref, { ledger, clock, ttlMs, onLost, onCancelled, onTrouble }, sentAt);
  }

  async carryOut(): Promise<Carried> {
    const { begun, carrier } = this.start;
    const { telemetry, clock, worker } = this.deps;
    telemetry.emit('attempt.begun', { ...this.#about, fence: begun.fence, lateByMs: this.#lateByMs(), worker });
    this.#heartbeat.start();
    carrier.givenUp.watch((reason) => this.#abort(reason));
    const began = clock.monotonic();
    try {
      const failure = await this.#handle();
      return failure ? await this.#fail(failure.error) : await this.#succeed(clock.monotonic() - began);
    } finally {
      this.#heartbeat.stop();
      carrier.givenUp.unwatch();
    }
  }

  async #handle(): Promise<{ readonly error: unknown } | null> {
    try {
      await this.start.handler.handle(this.#context());
      return null;
    } catch (error) {
      return { error };
    }
  }

  #finish(outcome: AttemptOutcome): Promise<RunState | null> {
    return this.#insist('finishing an attempt', () => this.deps.ledger.finish(this.#ref, outcome));
  }

  /** Asks again while the run lease lasts: a short outage of the store is no reason to do again what has been done. */
  async #insist<T>(doing: string, ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!this.#heartbeat.isTrusted()) throw error;
        this.deps.telemetry.emit('store.trouble', { doing, error: String(error) });
        await sleep(this.deps.clock, this.deps.ttlMs / 12);
      }
    }
  }

  async #succeed(tookMs: number): Promise<Carried> {
    const state = await this.#finish({ kind: 'succeeded' });
    if (state === null) return this.#refused();
    this.deps.telemetry.emit('attempt.succeeded', {
      ...this.#about,
      fence: this.#ref.fence,
      tookMs: Math.round(tookMs),
    });
    return SETTLED;
  }

  async #fail(error: unknown): Promise<Carried> {
    // A stale attempt has no say in how its run goes on.
    if (error instanceof StaleFenceError && error.resource === this.#ref.runId) return SETTLED;
    const outcome = this.#outcome(error);
    const state = await this.#finish(outcome);
    if (state === null) return this.#refused();
    if (state === 'cancelled') return this.#stopped(error);
    const retryInMs = outcome.kind === 'retry' ? outcome.delayMs : null;
    const failure = { fence: this.#ref.fence, error: describe(error), state, retryInMs };
    this.deps.telemetry.emit('attempt.failed', { ...this.#about, ...failure });
    this.#log('error', retryInMs === null ? describe(error) : `${describe(error)}; next attempt in ${retryInMs} ms`);
    return retryInMs === null ? { kind: 'failed', error } : { kind: 'later', waitMs: retryInMs };
  }

  #stopped(error: unknown): Carried {
    this.deps.telemetry.emit('attempt.cancelled', { ...this.#about, fence: this.#ref.fence, error: describe(error) });
    this.#log('warn', `cancelled; the handler ended with ${describe(error)}`);
    return SETTLED;
  }

  #outcome(error: unknown): AttemptOutcome {
    // Whatever it threw: it was told to stop, and a retry or a failure would say something else.
    if (this.#cancelled) return { kind: 'cancelled', error: describe(error) };
    const { retry } = this.start.handler;
    const { attempt } = this.start.begun;
    const final = attempt >= retry.attempts || isUnrecoverable(error);
    if (final) return { kind: 'failed', error: describe(error) };
    return { kind: 'retry', error: describe(error), delayMs: retryDelay(retry, attempt, this.deps.random) };
  }

  #refused(): Carried {
    this.deps.telemetry.emit('attempt.refused', { ...this.#about, fence: this.#ref.fence, step: 'finish' });
    return SETTLED;
  }

  #cancel(): void {
    this.#cancelled = true;
    this.#abort(new RunCancelledError(this.#ref.runId));
  }

  #abort(error: unknown): void {
    if (this.#end.over) return;
    this.deps.telemetry.emit('attempt.aborted', { ...this.#about, fence: this.#ref.fence, cause: describe(error) });
    this.#end.end(error);
  }

  #context(): RunContext {
    const { begun, carrier } = this.start;
    const { run } = begun;
    const effects = new Effects({
      ledger: this.deps.ledger,
      telemetry: this.deps.telemetry,
      attempt: this.#ref,
      end: this.#end,
      about: this.#about,
      onStale: (error) => this.#abort(error),
      check: () => this.#check(),
      insist: (doing, ask) => this.#insist(doing, ask),
    });
    const line = (level: keyof RunLog) => (message: string) => this.#log(level, message);
    return withSignal(this.#end, {
      id: run.id,
      cron: run.cron,
      scheduledAt: new Date(run.scheduledAt),
      dueAt: new Date(run.dueAt),
      lateByMs: this.#lateByMs(),
      reason: run.reason,
      missed: run.missed && { ...run.missed, from: new Date(run.missed.from), to: new Date(run.missed.to) },
      attempt: begun.attempt,
      fence: begun.fence,
      idempotencyKey: run.id,
      payload: run.payload === null ? null : JSON.parse(run.payload),
      log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
      progress: (value) => carrier.progress(value),
      effect: (name, act) => effects.run(name, act),
    });
  }

  #check(): void {
    this.#heartbeat.isTrusted();
    this.#end.throwIfOver();
  }

  #lateByMs(): number {
    const { attemptedAt, dueAt } = this.start.begun.run;
    return Math.max(0, (attemptedAt ?? dueAt) - dueAt);
  }

  #log(level: keyof RunLog, message: string): void {
    this.start.carrier.log(level, message, { attempt: this.#about.attempt, fence: this.#ref.fence });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
