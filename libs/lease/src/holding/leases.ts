import { systemClock, type Clock } from '../base/clock.js';
import { parseDuration } from '../base/checked-options.js';
import { LeaseLostError, SetupError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import { resourceName, takenName, type ResourceName } from '../base/resource.js';
import type { Holding, LeaseStore } from '../store/lease-store.js';
import { unobserved, type LeaseObserver } from '../telemetry/lease-events.js';
import { TtlAdviser } from './ttl-adviser.js';
import type { TtlAdvice } from './ttl-adviser.js';
import type { AcquireAnswer, Lease } from './held-lease.js';
import { refuseOwn, underLease } from './held-lease.js';
import { LeaseKeeper } from './lease-keeper.js';
import { QueuedWaiter, ReleaseHints, waitFor } from './waiting.js';

export interface LeasesOptions {
  readonly store: LeaseStore;
  readonly clock?: Clock;
  /** The identity of this process; see `processIdentity`. */
  readonly holder?: string;
  /** How long a lease lasts without renewal, `'300ms'` to `'1h'`; default `'10s'`. */
  readonly ttl?: string | number;
  readonly observe?: LeaseObserver;
  /** From 0 up to 1; jitters the waiting. */
  readonly random?: () => number;
  /** Called at the end of {@link Leases.close}, to close the connection of the store. */
  readonly onClose?: () => Promise<void>;
}

export interface AcquireOptions {
  /** How long the lease lasts without renewal; it is renewed every third of it. Default: that of the `Leases`. */
  readonly ttl?: string | number;
  /**
   * How long it may be held at the most, from when it is asked for: then it is lost, with the reason `max-hold`, however often
   * it was renewed. For work that may hang: nobody else would ever get in. Default: for as long as the work lasts.
   */
  readonly maxHold?: string | number;
  /** The highest fence known to have been accepted for the resource, so that the new one is larger even if the store forgot. */
  readonly floor?: Fence;
  /** How many may hold it at once, where the store is a semaphore's. */
  readonly places?: number;
}

export interface TryOptions extends AcquireOptions {
  /** Called when another holder has it, with the milliseconds that are left of its term unless that is renewed or released. */
  readonly onBusy?: (remainingMs: number) => void;
}

export interface WaitOptions extends AcquireOptions {
  /** How long to wait for the current holder; default `'30s'`. */
  readonly wait?: string | number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

const DEFAULT_WAIT = '30s';

/**
 * The leases of one process: acquire one if it is free, wait for one, or run a function under one.
 *
 * Every lease is renewed until it is released or lost. `await using leases = …`, or `close()`, releases all of them.
 */
export class Leases implements AsyncDisposable {
  readonly #store: LeaseStore;
  readonly #clock: Clock;
  /** Renews the held leases; for callers that need a busy holder's remaining time. */
  readonly keeper: LeaseKeeper;
  /** Wakes waiters at a release; for code on top of leases that implements its own waiting. */
  readonly hints: ReleaseHints;
  readonly #random: () => number;
  readonly #ttlMs: number;
  readonly #adviser: TtlAdviser;
  readonly #onClose: () => Promise<void>;

  /** @throws {SetupError} for a ttl that is no duration */
  constructor(options: LeasesOptions) {
    const { store, clock = systemClock, random = Math.random, ttl = '10s', onClose = async () => {} } = options;
    this.#store = store;
    this.#clock = clock;
    this.#adviser = new TtlAdviser({ notify: options.observe ?? unobserved });
    this.keeper = new LeaseKeeper({ ...options, measure: this.#adviser });
    this.hints = new ReleaseHints(store, clock);
    this.#random = random;
    this.#ttlMs = parseDuration(ttl);
    this.#onClose = onClose;
  }

  /** The identity of this process. */
  get holder(): string {
    return this.keeper.holder;
  }

  /**
   * Tries once.
   * @returns `null` when another holder has it
   * @throws {SetupError} for an invalid resource or TTL
   * @throws {LeasesClosedError} after {@link close}
   * @throws {FenceExhaustedError}
   * @throws when the store could not be asked
   */
  async tryAcquire(resource: ResourceName, options: TryOptions = {}): Promise<Lease | null> {
    const answer = await this.#ask(takenName(resource), options);
    if (answer.acquired) return answer.lease;
    // Closed meanwhile: what the store granted was given back, and no other holder need exist.
    this.hints.throwIfClosed();
    options.onBusy?.(answer.remainingMs);
    return null;
  }

  /**
   * Waits until it is free, for at most `wait`, trying at growing, jittered intervals and after every announced release. In
   * Redis and in memory those who wait are served in their order.
   * @throws {LeaseBusyError} if another holder had it all the time
   * @throws {LeaseHeldError} at once, inside of {@link using} of the same resource: the caller would wait for itself
   * @throws the signal's reason when it aborts, and whatever {@link tryAcquire} throws
   */
  async acquire(resource: ResourceName, options: WaitOptions = {}): Promise<Lease> {
    const name = takenName(resource);
    const queued = this.#store.servesInOrder ? new QueuedWaiter(this.keeper, name) : undefined;
    try {
      return (await this.#wait([name], options, (waits) => this.#ask(name, options, waits ? queued : undefined))).lease;
    } finally {
      queued?.leave();
    }
  }

  /**
   * Waits for the lease, runs `work` under it, and releases it when `work` has returned or thrown.
   *
   * `lease.signal` aborts when the lease is lost; `work` must stop then. A loss is never swallowed: even if `work`
   * returned, the caller gets the loss; if `work` threw, its error is the cause of the loss.
   * @throws {LeaseLostError} when it was lost before `work` ended
   * @throws what `work` throws, and whatever {@link acquire} throws
   */
  async using<T>(resource: ResourceName, options: WaitOptions, work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.run(await this.acquire(resource, options), work);
  }

  /** Like {@link using}, under a lease that is already held. It is released at the end. */
  async run<T>(lease: Lease, work: (lease: Lease) => Promise<T>): Promise<T> {
    try {
      const result = await underLease(lease, this, work);
      throwIfLost(lease);
      return result;
    } catch (error) {
      throwIfLost(lease, error);
      throw error;
    } finally {
      // A failed release doesn't undo the work; the term ends by itself within its TTL.
      await lease.release().catch(() => {});
    }
  }

  /**
   * Acquires all of them or none: while one is busy, the others are released, so that two callers that want the same ones
   * in a different order don't wait for each other.
   * @throws as {@link acquire} does
   */
  async acquireMany(resources: readonly ResourceName[], options: WaitOptions = {}): Promise<LeaseGroup> {
    const names = [...new Set(resources.map(takenName))];
    return (await this.#wait(names, options, () => this.#askForAll(names, options))).group;
  }

  /**
   * Renews these now, in addition to the periodic renewals.
   * @returns for each, in the order given, whether it is still held
   * @throws when the store could not be asked; nothing is lost by that
   */
  renewMany(leases: readonly Lease[]): Promise<boolean[]> {
    return this.keeper.renewNow(leases);
  }

  /** The current holder, for display: never a basis for acting. */
  async inspect(resource: ResourceName): Promise<Holding | null> {
    return (await this.#store.inspect([resourceName(resource)]))[0] ?? null;
  }

  /**
   * The TTL that the resource needs, from how long it was held here: the work should end within one term, with time for the
   * replies of the store and for stopping. Also says if there are no or too few measurements.
   */
  ttlAdvice(resource: ResourceName): TtlAdvice {
    return this.#adviser.advice(resourceName(resource));
  }

  /** Releases all leases. @returns how many were still held */
  releaseAll(): Promise<number> {
    return this.keeper.releaseAll();
  }

  /**
   * Ends all waiting with a `LeasesClosedError`, releases all leases, those that the store grants meanwhile too, and stops
   * listening. From then on no lease is acquired.
   * @throws when the store could not be asked; the terms then end by themselves within their ttl
   */
  async close(): Promise<void> {
    try {
      await Promise.all([this.hints.close(), this.releaseAll()]);
    } finally {
      await this.keeper.settled();
      await this.#onClose();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #ask(name: string, { ttl, maxHold, floor, places }: AcquireOptions, queued?: QueuedWaiter): Promise<AcquireAnswer> {
    this.hints.throwIfClosed();
    const ttlMs = ttl === undefined ? this.#ttlMs : parseDuration(ttl);
    const maxHoldMs = maxHold === undefined ? undefined : longestHold(maxHold);
    const asked = { ttlMs, maxHoldMs, floor, places };
    return queued ? queued.tryAcquire(asked) : this.keeper.tryAcquire(name, asked);
  }

  async #askForAll(names: readonly string[], options: WaitOptions): Promise<GroupAnswer> {
    const asked = await Promise.allSettled(names.map((name) => this.#ask(name, options)));
    const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const group = new LeaseGroup(answers.flatMap((answer) => (answer.acquired ? [answer.lease] : [])));
    if (group.leases.length === names.length) return { acquired: true, group };
    await group.release().catch(() => {});
    for (const one of asked) if (one.status === 'rejected') throw one.reason;
    return {
      acquired: false,
      remainingMs: Math.max(...answers.map((answer) => (answer.acquired ? 0 : answer.remainingMs))),
    };
  }

  #wait<A extends AcquireAnswer | GroupAnswer>(
    resources: readonly string[],
    { wait = DEFAULT_WAIT, signal }: WaitOptions,
    ask: (waits?: true) => Promise<A>,
  ): Promise<Extract<A, { acquired: true }>> {
    const waitMs = parseDuration(wait);
    if (waitMs > 0) refuseOwn(this, resources);
    const isQueued = this.#store.servesInOrder && resources.length === 1;
    const parts = { clock: this.#clock, random: this.#random, hints: this.hints };
    return waitFor(ask, { ...parts, resources, waitMs, isQueued, signal });
  }
}

function longestHold(maxHold: string | number): number {
  const maxHoldMs = parseDuration(maxHold);
  if (maxHoldMs > 0) return maxHoldMs;
  throw new SetupError(`Expected a maxHold above 0, such as '10m', got ${JSON.stringify(maxHold)}.`);
}

type GroupAnswer =
  { readonly acquired: true; readonly group: LeaseGroup } | Extract<AcquireAnswer, { acquired: false }>;

function throwIfLost(lease: Lease, cause?: unknown): void {
  const reason: unknown = lease.signal.reason;
  if (!(reason instanceof LeaseLostError)) return;
  if (cause === undefined || cause === reason) throw reason;
  throw new LeaseLostError(reason.resource, reason.reason, { cause });
}

/** Leases that were taken together. Losing one is losing the right to act. */
export class LeaseGroup implements AsyncDisposable {
  /** Aborts when the first of them is lost or released. */
  readonly signal: AbortSignal;

  constructor(readonly leases: readonly Lease[]) {
    this.signal = AbortSignal.any(leases.map(({ signal }) => signal));
  }

  /**
   * Ends all terms.
   * @returns for each whether it was still ours
   * @throws when the store could not be asked; the terms then end by themselves within their ttl
   */
  release(): Promise<boolean[]> {
    return Promise.all(this.leases.map((lease) => lease.release()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
