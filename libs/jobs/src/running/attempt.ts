import { StaleFenceError, type LeaseLostError } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { AttemptOutcome, AttemptRef, BeginReply } from '@fencepost/ledger';
import { MAX_RESULT_BYTES, type Run, type RunState } from '@fencepost/ledger/run';
import { withinTimeout, type TimedAttempt } from './attempt-timeout.js';
import type { AttemptDeps, Disposition, Delivery, CronHandler, RetryPolicy } from './delivery.js';
import {
  describeError,
  shownError,
  stackLines,
  reportProgramError,
  reportStoreFailure,
  isProgramError,
} from '../telemetry/report-failure.js';
import { EffectSession, type RunLease } from './effect-session.js';
import type { EffectUnresolvedError } from './errors.js';
import { LazyAbort } from './lazy-abort.js';
import { RunCancelledError, FinalError } from './errors.js';
import type { LongRuns } from './long-runs.js';
import { lateByMs, makeRunContext } from './make-run-context.js';
import type { RunLog } from './run-context.js';
import type { Failure } from '../telemetry/events.js';
import { Heartbeat, HeartbeatTimer, type HeartbeatOwner } from './heartbeat.js';
import { TransactionMisusedError } from '@fencepost/ledger';
import { resultJson, whyNotKept } from './result-json.js';

type Handled = { readonly returned: unknown } | { readonly error: unknown };

type Begun = Extract<BeginReply, { verdict: 'begun' }>;

const SETTLED: Disposition = { kind: 'settled' };

/** From this age on an attempt is compared with the history of its cron. */
const COMPARED_AFTER_MS = 60_000;

export interface AttemptStart {
  readonly delivery: Delivery;
  readonly handler: CronHandler;
  readonly begun: Begun;
  readonly nonce: string;
  readonly sentAt: number;
}

/** One try of a run by this worker, from its begin to its finish. */
export class Attempt implements RunLease, HeartbeatOwner, TimedAttempt {
  readonly #ref: AttemptRef;
  readonly #about: { readonly cron: string; readonly runId: string; readonly attempt: number };
  readonly #end = new LazyAbort();
  readonly #heartbeat: Heartbeat;
  #session: EffectSession | null = null;
  #cancelled = false;
  #isSucceeding = false;
  #isLong = false;

  constructor(
    private readonly deps: AttemptDeps,
    private readonly start: AttemptStart,
  ) {
    const { begun, nonce, sentAt, delivery } = start;
    this.#ref = { runId: delivery.runId, fence: begun.fence, nonce };
    this.#about = { cron: begun.run.cron, runId: delivery.runId, attempt: begun.attempt };
    const { ledger, clock, ttlMs, heartbeatTimer = new HeartbeatTimer(clock, ttlMs / 4) } = deps;
    this.#heartbeat = new Heartbeat(this.#ref, { ledger, clock, ttlMs, heartbeatTimer, owner: this }, sentAt);
  }

  async execute(): Promise<Disposition> {
    const { begun, delivery } = this.start;
    const { telemetry, clock, worker } = this.deps;
    if (telemetry.listens('attempt.begun')) {
      telemetry.emit('attempt.begun', { ...this.#about, fence: begun.fence, lateByMs: lateByMs(begun), worker });
    }
    this.#heartbeat.start();
    delivery.givenUp.watch((reason) => this.abort(reason));
    const began = clock.monotonic();
    try {
      const handled = await this.#handle();
      // An unknown outcome is neither a success nor a failure, even if the handler caught its error.
      if (this.#session?.unresolved) return await this.#finishUncertain(this.#session.unresolved);
      const tookMs = Math.round(clock.monotonic() - began);
      return await ('error' in handled ? this.#fail(handled.error, tookMs) : this.#succeed(handled.returned, tookMs));
    } finally {
      this.#heartbeat.stop();
      if (this.#isLong) this.#tellLong((runs) => runs.end(this.#about.runId));
      delivery.givenUp.unwatch();
    }
  }

  async #handle(): Promise<Handled> {
    const { timeoutMs } = this.start.handler;
    try {
      return { returned: await (timeoutMs === undefined ? this.#work() : this.#workFor(timeoutMs)) };
    } catch (error) {
      return { error };
    }
  }

  #workFor(timeoutMs: number): Promise<unknown> {
    const { runId } = this.start.delivery;
    return withinTimeout(this.#work(), { runId, timeoutMs, clock: this.deps.clock, attempt: this });
  }

  async #work(): Promise<unknown> {
    const { begun, handler, delivery } = this.start;
    const log = (level: keyof RunLog, message: string) => this.#log(level, message);
    const session = () => (this.#session ??= this.#makeSession());
    const previous = () => this.#previous();
    const context = await makeRunContext({ begun, handler, delivery, end: this.#end, log, session, previous });
    const returned = await handler.handle(context);
    await this.#session?.awaited.check();
    return returned;
  }

  #finish(outcome: AttemptOutcome): Promise<RunState | null> {
    return this.retryWhileLeased('attempt.finish', () => this.deps.ledger.finish(this.#ref, outcome));
  }

  /** Retries while the run lease lasts: a short outage of the store must not cause a second execution. */
  async retryWhileLeased<T>(operation: Failure['operation'], ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!this.#heartbeat.isTrusted()) throw error;
        reportStoreFailure(this.deps.telemetry, { operation, ...this.#about }, error);
        if (isProgramError(error)) throw error;
        await sleep(this.deps.clock, this.deps.ttlMs / 12);
      }
    }
  }

  #previous(): Promise<Run | null> {
    return this.retryWhileLeased('run.read', () => this.deps.ledger.previousSuccess(this.#ref.runId));
  }

  async #succeed(returned: unknown, tookMs: number): Promise<Disposition> {
    const state = await this.#finishSucceeded(this.#resultOf(returned));
    if (state === null) return this.#refused();
    const { telemetry } = this.deps;
    if (telemetry.listens('attempt.succeeded')) {
      const { fence } = this.#ref;
      telemetry.emit('attempt.succeeded', { ...this.#about, fence, tookMs });
    }
    return SETTLED;
  }

  /** The reply decides what became of it, whatever is heard of lease and job meanwhile. */
  #finishSucceeded(result: string | undefined): Promise<RunState | null> {
    this.#isSucceeding = true;
    const { delivery } = this.start;
    const attempt = this.#ref;
    const alone = () => this.deps.ledger.finish(attempt, { kind: 'succeeded', result });
    return this.retryWhileLeased('attempt.finish', () => delivery.succeed?.({ attempt, result }) ?? alone());
  }

  /** The effects of the run have happened: a result that can't be kept is no reason to repeat them. */
  #resultOf(returned: unknown): string | undefined {
    if (returned === undefined || returned === null) return undefined;
    const encoded = resultJson(returned, MAX_RESULT_BYTES);
    if ('json' in encoded) return encoded.json;
    const reason = whyNotKept(encoded.why);
    this.deps.telemetry.emit('run.result-dropped', { ...this.#about, fence: this.#ref.fence, reason });
    this.#log('warn', `the result was not kept: ${reason}`);
    return undefined;
  }

  async #fail(error: unknown, tookMs: number): Promise<Disposition> {
    // A stale attempt must not decide how its run continues.
    if (error instanceof StaleFenceError && error.resource === this.#ref.runId) return SETTLED;
    const outcome = this.#outcome(error);
    const state = await this.#finish(outcome);
    if (state === null) return this.#refused();
    if (state === 'cancelled') return this.#stopped(error);
    const retryInMs = outcome.kind === 'retry' ? outcome.delayMs : null;
    const failure = { fence: this.#ref.fence, err: shownError(error), state, retryInMs, tookMs };
    this.deps.telemetry.emit('attempt.failed', { ...this.#about, ...failure });
    const next = retryInMs === null ? '' : `; next attempt in ${retryInMs} ms`;
    this.#log('error', `${describeError(error)}${next}${stackLines(error)}`);
    return retryInMs === null ? { kind: 'failed', error } : { kind: 'later', waitMs: retryInMs };
  }

  async #finishUncertain(unresolved: EffectUnresolvedError): Promise<Disposition> {
    const { unresolvedEffect } = unresolved;
    const error = describeError(unresolved);
    const state = await this.#finish({ kind: 'uncertain', error, unresolvedEffect });
    if (state === null) return this.#refused();
    if (state === 'cancelled') return this.#stopped(unresolved);
    const { effect, item, unknownReason } = unresolvedEffect;
    this.deps.telemetry.emit('attempt.uncertain', {
      ...this.#about,
      fence: this.#ref.fence,
      effect,
      item,
      unknownReason,
    });
    this.#log('warn', error);
    return SETTLED;
  }

  #stopped(error: unknown): Disposition {
    this.deps.telemetry.emit('attempt.cancelled', {
      ...this.#about,
      fence: this.#ref.fence,
      err: shownError(error),
    });
    this.#log('warn', `cancelled; the handler threw ${describeError(error)}`);
    return SETTLED;
  }

  #outcome(error: unknown): AttemptOutcome {
    // It was cancelled, whatever it threw: neither a retry nor a failure.
    if (this.#cancelled) return { kind: 'cancelled', error: describeError(error) };
    const { retry } = this.start.handler;
    const { attempt } = this.start.begun;
    const final = attempt >= retry.attempts || isUnrecoverable(error);
    if (final) return { kind: 'failed', error: describeError(error) };
    return { kind: 'retry', error: describeError(error), delayMs: retryDelay(retry, attempt, this.deps.random) };
  }

  #refused(): Disposition {
    this.deps.telemetry.emit('attempt.refused', { ...this.#about, fence: this.#ref.fence, step: 'finish' });
    return SETTLED;
  }

  abandon(): void {
    this.#session?.abandon();
  }

  runLeaseLost(error: LeaseLostError): void {
    this.abort(error);
  }

  runCancelled(): void {
    this.#cancelled = true;
    this.abort(new RunCancelledError(this.#ref.runId));
  }

  beating(): void {
    const { begun, sentAt: since } = this.start;
    const { cron, runId } = this.#about;
    if (this.deps.clock.monotonic() - since < COMPARED_AFTER_MS) return;
    this.#isLong = true;
    const beganAt = begun.run.attemptedAt ?? this.deps.clock.now();
    this.#tellLong((runs) => runs.beat({ cron, runId, beganAt, since }));
  }

  #tellLong(tell: (runs: LongRuns) => void): void {
    const { longRuns, telemetry } = this.deps;
    longRuns?.().then(tell, (error: unknown) => reportProgramError(telemetry, { operation: 'standstill.look' }, error));
  }

  heartbeatFailed(error: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'attempt.heartbeat', ...this.#about }, error);
  }

  abort(error: unknown): void {
    if (this.#end.over || this.#isSucceeding) return;
    this.deps.telemetry.emit('attempt.aborted', {
      ...this.#about,
      fence: this.#ref.fence,
      cause: describeError(error),
    });
    this.#end.end(error);
  }

  #makeSession(): EffectSession {
    const { ledger, telemetry, clock, tracing = null } = this.deps;
    return new EffectSession({
      ...{ ledger, telemetry, clock, tracing, attempt: this.#ref, end: this.#end, about: this.#about },
      criticality: this.start.handler.criticality ?? 'efficiency',
      lease: this,
    });
  }

  check(): void {
    this.#heartbeat.isTrusted();
    this.#end.throwIfOver();
  }

  #log(level: keyof RunLog, message: string): void {
    this.start.delivery.log(level, message, { attempt: this.#about.attempt, fence: this.#ref.fence });
  }
}

/**
 * The delay after the failed `attempt`: exponential, capped, and jittered between half and all of it, so that runs which
 * failed together don't come back together.
 */
export function retryDelay(policy: RetryPolicy, attempt: number, random: () => number): number {
  const full = Math.min(policy.delayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  return Math.round(full * (0.5 + random() / 2));
}

/**
 * Whether a retry is pointless: the error is unrecoverable (BullMQ's class of that name is recognised), or
 * the handler or its payload is at fault, and every further attempt would fail in the same way.
 */
export function isUnrecoverable(error: unknown): boolean {
  if (error instanceof FinalError || error instanceof TransactionMisusedError) return true;
  return error instanceof Error && error.name === 'UnrecoverableError';
}
