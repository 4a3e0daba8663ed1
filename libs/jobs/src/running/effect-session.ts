import { StaleFenceError, type Clock } from '@fencepost/lease';
import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { AttemptLog, AttemptRef, RunHistory } from '@fencepost/ledger';
import type { UnresolvedEffect } from '@fencepost/ledger/run';
import { shownError } from '../telemetry/report-failure.js';
import type { Failure } from '../telemetry/events.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { TraceCall } from './call-effect.js';
import { EffectUnresolvedError, EffectNameError, UnawaitedEffectError } from './errors.js';
import type { LazyAbort } from './lazy-abort.js';

/** Called when a promise is first observed, and when it has settled. */
interface Watch {
  readonly observed: () => void;
  /** For a promise derived from it by `then`. */
  readonly derived: () => Watch;
  readonly rejected: (error: unknown) => void;
  readonly fulfilled: () => void;
}

/**
 * A promise that handles its own rejection, so that a handler that forgets it does not end the process, and that knows whether
 * anything has observed it. `await` calls `then`, because its constructor is not `Promise`.
 */
class WatchedPromise<T> extends Promise<T> {
  #watch: Watch | null = null;

  watch(watch: Watch): this {
    // The base class: this observation is not one of the handler.
    void super.then(watch.fulfilled, watch.rejected);
    this.#watch = watch;
    return this;
  }

  // `await` and Promise.all call this, so the class notices that it is observed.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(onFulfilled, onRejected);
    const watch = this.#watch;
    if (watch && next instanceof WatchedPromise) {
      watch.observed();
      void next.watch(watch.derived());
    }
    return next;
  }
}

interface Started {
  readonly name: string;
  /** Whether it is the promise of an effect, and not one derived by `then`. */
  readonly isEffect: boolean;
  readonly settled: Promise<void>;
  observed: boolean;
  failure: { readonly error: unknown } | null;
}

/** The effects of one attempt that its handler has not yet awaited. */
class AwaitedEffects {
  readonly #open = new Set<Started>();

  /** @param name the name of the effect in the message */
  track<T>(name: string, work: Promise<T>): Promise<T> {
    const promise = new WatchedPromise<T>((resolve, reject) => void work.then(resolve, reject));
    return promise.watch(this.#watch(name, true));
  }

  /**
   * Called when the handler has returned. Waits for effects in progress, so that their outcomes are recorded.
   * @throws {UnawaitedEffectError} if the handler did not await an effect, or dropped the failure of one
   */
  async check(): Promise<void> {
    // The handler may have observed its last effect in the tick in which it returned.
    const forgotten = [...this.#open].filter(({ observed, isEffect }) => isEffect && !observed);
    const pending = [...this.#open];
    await Promise.all(pending.map(({ settled }) => settled));
    const failed = pending.find(({ failure, observed }) => failure !== null && !observed);
    const [first] = [...forgotten, ...pending.filter(({ isEffect }) => isEffect), ...(failed ? [failed] : [])];
    if (first) throw new UnawaitedEffectError(first.name, { cause: first.failure?.error });
  }

  #watch(name: string, isEffect: boolean): Watch {
    const { promise: settled, resolve: settle } = withResolvers();
    const started: Started = { name, isEffect, settled, observed: false, failure: null };
    this.#open.add(started);
    let over = false;
    const done = (failure: Started['failure']) => {
      [over, started.failure] = [true, failure];
      // A derived promise that fulfils may be dropped: `await` drops one each time.
      if (started.observed || (!isEffect && !failure)) this.#open.delete(started);
      settle();
    };
    return {
      observed: () => {
        started.observed = true;
        if (over) this.#open.delete(started);
      },
      derived: () => this.#watch(name, false),
      fulfilled: () => done(null),
      rejected: (error) => done({ error }),
    };
  }
}

/** `Promise.withResolvers` is not in Node 20. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** What an attempt may still do under its run lease. */
export interface RunLease {
  /** Throws if the attempt must stop. */
  check(): void;
  /** Ends the attempt: the ledger refused it as stale. */
  abort(error: StaleFenceError): void;
  /** Retries while the run lease is trusted: an outage must not make an effect happen twice. */
  retryWhileLeased<T>(operation: Failure['operation'], ask: () => Promise<T>): Promise<T>;
}

interface EffectsDeps {
  readonly ledger: AttemptLog & Pick<RunHistory, 'items'>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly attempt: AttemptRef;
  readonly end: LazyAbort;
  readonly criticality: Criticality;
  /** Fields of the events of this attempt. */
  readonly about: { readonly cron: string; readonly runId: string; readonly attempt: number };
  readonly lease: RunLease;
  readonly tracing?: Tracing | null;
}

type EffectEvent = 'effect.beginning' | 'effect.known' | 'effect.acted' | 'effect.finished' | 'effect.late';
type FailureEvent = 'effect.failed' | 'effect.unknown' | 'effect.unrecorded';

const MAX_NAME_LENGTH = 200;

/** Whether a text is valid as a name or key: PostgreSQL cannot store NUL. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= MAX_NAME_LENGTH && !name.includes('\0');
}

/** The rule for names, for messages. */
export const NAME_TEXT = `a text of 1 to ${MAX_NAME_LENGTH} characters without NUL`;

/** State shared by all effects of one attempt: their names, and whether one of them needs an operator. */
export class EffectSession {
  readonly awaited = new AwaitedEffects();
  readonly #used = new Set<string>();
  readonly #namespaces = new Set<string>();
  readonly #open = new Set<UnresolvedEffect>();
  #unresolved: EffectUnresolvedError | null = null;

  constructor(readonly deps: EffectsDeps) {}

  /** The first effect of this attempt that needs an operator. */
  get unresolved(): EffectUnresolvedError | null {
    return this.#unresolved;
  }

  /** @throws {EffectNameError} */
  reserve(name: unknown): asserts name is string {
    const { runId } = this.deps.attempt;
    if (!isName(name)) throw new EffectNameError(runId, name, NAME_TEXT);
    if (this.#used.has(name)) throw new EffectNameError(runId, name, 'a name not yet used in this attempt');
    // Its idempotency key could be that of an item.
    const [namespace = ''] = name.split('/', 1);
    if (this.#namespaces.has(namespace))
      throw new EffectNameError(runId, name, `a name that does not begin with "${namespace}/"`);
    this.#used.add(name);
  }

  /** Reserves the name of a batch of items. @throws {EffectNameError} */
  reserveNamespace(name: unknown): asserts name is string {
    const { runId } = this.deps.attempt;
    if (isName(name) && name.includes('/')) throw new EffectNameError(runId, name, `${NAME_TEXT} or /, for items`);
    this.reserve(name);
    const taken = [...this.#used].find((used) => used.startsWith(`${name}/`));
    if (taken !== undefined) throw new EffectNameError(runId, name, `a name for items other than that of "${taken}"`);
    this.#namespaces.add(name);
  }

  /** @throws if no effect may begin: the attempt must stop, or needs an operator */
  ready(): void {
    this.deps.lease.check();
    if (this.#unresolved) throw this.#unresolved;
  }

  /** @returns the error for the handler; the attempt ends uncertain even if the handler catches it */
  needOperator(unresolved: UnresolvedEffect, cause?: unknown): EffectUnresolvedError {
    if (this.#unresolved) return this.#unresolved;
    this.#unresolved = new EffectUnresolvedError(unresolved, cause === undefined ? undefined : { cause });
    const { effect, item, unknownReason } = unresolved;
    this.deps.telemetry.emit('effect.unresolved', { ...this.about(effect), item, unknownReason });
    return this.#unresolved;
  }

  /** Notes an effect that needs an operator if the attempt is abandoned now. @returns a function that withdraws it */
  noteOpen(unresolved: UnresolvedEffect): () => void {
    this.#open.add(unresolved);
    return () => this.#open.delete(unresolved);
  }

  /** The attempt is abandoned while its handler still runs: the outcomes of its effects in progress may never be known. */
  abandon(): void {
    for (const unresolved of this.#open) this.needOperator(unresolved);
  }

  stale(name: string): StaleFenceError {
    const { attempt, telemetry, lease, about } = this.deps;
    telemetry.emit('attempt.refused', { ...about, fence: attempt.fence, step: 'effect' });
    const error = new StaleFenceError(
      attempt.runId,
      attempt.fence,
      `another attempt has taken over the effect "${name}"`,
    );
    lease.abort(error);
    return error;
  }

  /** The span around the call of an effect, if there is tracing. */
  traced(effect: string): TraceCall | null {
    const { tracing } = this.deps;
    return tracing ? (work) => tracing.effect(this.about(effect), work) : null;
  }

  about(effect: string) {
    return { ...this.deps.about, fence: this.deps.attempt.fence, effect };
  }

  emit(event: EffectEvent, name: string): void {
    this.deps.telemetry.emit(event, this.about(name));
  }

  failed(event: FailureEvent, { effect, item }: { effect: string; item?: string }, error: unknown): void {
    const about = { ...this.about(effect), ...(item === undefined ? {} : { item }) };
    this.deps.telemetry.emit(event, { ...about, err: shownError(error) });
  }
}
