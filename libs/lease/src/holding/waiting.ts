import { ALL_RELEASED } from '../store/lease-sessions.js';
import { sleep } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { randomNonce } from '../base/identity.js';
import { LeaseBusyError, LeasesClosedError, isBug, isFinal } from '../base/errors.js';
import { NOTHING, type AcquireAnswer, type NotAcquired } from './held-lease.js';
import type { TryAcquireOptions } from './keeper-options.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { LeaseStore, StopWatching } from '../store/lease-store.js';

export interface Waiting {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly hints: ReleaseHints;
  /** Resources whose release may end the waiting. */
  readonly resources: readonly string[];
  readonly waitMs: number;
  /** Whether the store serves those who wait in their order: then a waiter asks at once to enter the queue. */
  readonly isQueued?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Answer = { readonly acquired: true } | NotAcquired;

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;
/** Jitter: many may wait for one release. */
const SPREAD_MS = 10;

/**
 * Tries until it is granted, for at most `waitMs`: at once, after an announced release, when the term of the holder should
 * be over, and in between at doubling, jittered intervals. The announcement is a hint and is never waited for
 * alone.
 * @param ask with whether it waits: the first time it doesn't, so that a free resource costs no more
 * @throws {LeaseBusyError} after `waitMs`
 * @throws {LeasesClosedError} at once when the hints are closed, even while the store owes an answer
 * @throws the reason of the signal when it aborts, a final error or a bug at once, and the last store error after `waitMs`
 */
export async function waitFor<A extends Answer>(
  ask: (waits?: true) => Promise<A>,
  waiting: Waiting,
): Promise<Extract<A, { acquired: true }>> {
  const { clock, signal, resources, hints, waitMs } = waiting;
  const startedAt = clock.monotonic();
  let listening: Listening | undefined;
  try {
    for (let tries = 0; ; tries += 1) {
      hints.throwIfClosed();
      signal?.throwIfAborted();
      const answer = await asked(listening ? () => unlessClosed(listening, ask) : ask);
      if ('acquired' in answer && answer.acquired) return answer as Extract<A, { acquired: true }>;
      // Closed meanwhile: what the store granted was given back, and no other holder need exist.
      hints.throwIfClosed();
      const waitedMs = clock.monotonic() - startedAt;
      if (waitedMs >= waitMs) throw refusal(answer, { resources, waitedMs });
      // Only a waiter listens. An announcement before that is lost, which costs one pause.
      listening ??= hints.listen(resources);
      if (tries > 0 || !waiting.isQueued) await pause(answer, { waiting, listening, tries, leftMs: waitMs - waitedMs });
    }
  } finally {
    listening?.stop();
  }
}

type Refused = NotAcquired | { readonly error: unknown };

async function asked<A extends Answer>(ask: () => Promise<A>): Promise<A | { readonly error: unknown }> {
  try {
    return await ask();
  } catch (error) {
    if (isFinal(error) || isBug(error)) throw error;
    return { error };
  }
}

/** Doesn't wait for a store that is slow to answer when the hints are closed. A lease that it grants after that is given back. */
function unlessClosed<A>(listening: Listening | undefined, ask: (waits?: true) => Promise<A>): Promise<A> {
  return new Promise((resolve, reject) => {
    listening?.onClosed(reject);
    ask(true).then(resolve, reject);
  });
}

function refusal(
  answer: Refused,
  { resources, waitedMs }: { resources: readonly string[]; waitedMs: number },
): unknown {
  return 'error' in answer ? answer.error : new LeaseBusyError(resources.join(', '), waitedMs, answer.remainingMs);
}

interface Pause {
  readonly waiting: Waiting;
  readonly listening: Listening;
  readonly tries: number;
  readonly leftMs: number;
}

async function pause(answer: Refused, { waiting, listening, tries, leftMs }: Pause): Promise<void> {
  const { clock, random, signal } = waiting;
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 10), MAX_PAUSE_MS) * (0.5 + random() / 2);
  const until = 'error' in answer || answer.remainingMs <= 0 ? backoff : Math.min(backoff, answer.remainingMs);
  const woken = signal ? AbortSignal.any([listening.released, signal]) : listening.released;
  await sleep(clock, Math.min(until, leftMs), woken);
  waiting.hints.throwIfClosed();
  if (listening.released.aborted) {
    listening.again();
    await sleep(clock, Math.min(random() * SPREAD_MS, leftMs), signal);
  }
}

/** One caller's place in the queue of a store that serves in order: its requests have a nonce in common. */
export class QueuedWaiter {
  readonly #keeper: LeaseKeeper;
  readonly #resource: string;
  #nonce: string | undefined;

  constructor(keeper: LeaseKeeper, resource: string) {
    this.#keeper = keeper;
    this.#resource = resource;
  }

  /** @throws as `LeaseKeeper.tryAcquire` does */
  async tryAcquire(options: TryAcquireOptions): Promise<AcquireAnswer> {
    const waitsAs = (this.#nonce ??= randomNonce());
    let isOver = true;
    try {
      const answer = await this.#keeper.tryAcquire(this.#resource, { ...options, waitsAs });
      isOver = answer.acquired || answer === NOTHING;
      return answer;
    } finally {
      // A term that was held or given back never comes again under its nonce: a command that was delayed could end it.
      if (isOver) this.#nonce = undefined;
    }
  }

  /** Ends the waiting, so that the resource isn't kept for a caller that has left. */
  leave(): void {
    if (this.#nonce !== undefined) this.#keeper.leave(this.#resource, this.#nonce);
  }
}

/** A waiter soon after the last one finds the connection still open. */
const LINGER_MS = 1_000;

interface Listener {
  readonly resources: readonly string[];
  wake: AbortController;
  onClosed: (error: LeasesClosedError) => void;
}

/** An announced release, as a waiter receives it. */
interface Listening {
  /** Aborts at the next release of one of the resources. */
  readonly released: AbortSignal;
  /** Arms `released` anew. */
  again(): void;
  /** Calls `notify`, in place of the one before, when the hints are closed. */
  onClosed(notify: (error: LeasesClosedError) => void): void;
  stop(): void;
}

/**
 * Announcements of releases, for all waiters of this process: one watch, opened by the first waiter and closed
 * a second after the last. A hint: its failures are ignored.
 */
export class ReleaseHints {
  readonly #store: LeaseStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #watch: Promise<StopWatching | undefined> | undefined;
  #cancelLinger: () => void = () => {};
  #isClosed = false;

  constructor(store: LeaseStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws {LeasesClosedError} after {@link close} */
  throwIfClosed(): void {
    if (this.#isClosed) throw new LeasesClosedError();
  }

  /** @throws {LeasesClosedError} after {@link close} */
  listen(resources: readonly string[]): Listening {
    this.throwIfClosed();
    const listener: Listener = { resources, wake: new AbortController(), onClosed: () => {} };
    this.#listeners.add(listener);
    this.#cancelLinger();
    this.#watch ??= this.#store.watchReleases((resource) => this.#heard(resource)).catch(() => undefined);
    return {
      get released() {
        return listener.wake.signal;
      },
      again: () => {
        listener.wake = new AbortController();
      },
      onClosed: (notify) => {
        listener.onClosed = notify;
      },
      stop: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#cancelLinger = this.#clock.after(LINGER_MS, () => void this.#unwatch());
      },
    };
  }

  /** Ends all waiting, for good, and closes the watch. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { wake, onClosed } of this.#listeners) {
      onClosed(new LeasesClosedError());
      wake.abort();
    }
    await this.#unwatch();
  }

  async #unwatch(): Promise<void> {
    this.#cancelLinger();
    const watch = this.#watch;
    this.#watch = undefined;
    const stop = await watch;
    await stop?.().catch(() => {});
  }

  #heard(resource: string): void {
    const isFree = resource === ALL_RELEASED ? () => true : (names: readonly string[]) => names.includes(resource);
    for (const { resources, wake } of this.#listeners) if (isFree(resources)) wake.abort();
  }
}
