import { randomUUID, createHash } from 'node:crypto';
import { NO_FENCE, type Clock, type Lease } from '@fencepost/lease';
import { Semaphores, type SemaphoreStore } from '@fencepost/lease/internal/semaphores';
import type { Failure } from '../telemetry/events.js';
import type { Limits } from './delivery.js';

export interface LimiterOptions {
  readonly store: SemaphoreStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** Identity of this worker process. */
  readonly holder: string;
  /** How long the permits of a dead worker stay taken: milliseconds, from 300 to an hour. */
  readonly ttlMs: number;
  /** Called when a background call to the store failed. */
  readonly onTrouble: (operation: Failure['operation'], error: unknown) => void;
  /** Delivers a waiting job at once. A hint: without it, the job is delivered later. */
  readonly wake?: (jobId: string) => void;
}

export interface LimitedRun {
  readonly runId: string;
  /** The job id of its delivery. */
  readonly jobId?: string | undefined;
  /** The name under which the handler was declared. */
  readonly name: string;
  readonly limits: Limits;
  /** `null` if the limits have no key. */
  readonly key: string | null;
}

export type AdmitReply =
  | { readonly verdict: 'admitted'; readonly admission: Admission }
  | { readonly verdict: 'key-limit' | 'rate-limit'; readonly waitMs: number };

const MAX_PERMIT_MS = 3_600_000;
/** The first waiting run tries this often: the end of a run wakes it, the death of a worker does not. */
const NEXT_ASKS_MS = 500;
/** No run waits longer for its next try: one that does not use its turn blocks the runs behind it. */
const MAX_WAIT_MS = 10_000;
/** For runs that find the wait queue full. */
const QUEUE_FULL_MS = 30_000;

/**
 * Applies the limits of a handler over all workers: a permit per concurrent run with the same key, and a permit per begun
 * run, which returns after the rate period. A run that gets none waits in the queue.
 */
export class Limiter {
  readonly #semaphores: Semaphores;
  readonly #waitQueue: WaitQueue;

  constructor(private readonly options: LimiterOptions) {
    const { store, clock, random, holder, ttlMs } = options;
    this.#semaphores = new Semaphores({ store, clock, random, holder, ttl: Math.min(ttlMs, MAX_PERMIT_MS) });
    this.#waitQueue = new WaitQueue(store);
  }

  /** @throws when the store failed; permits acquired until then are released, or expire */
  async admit(run: LimitedRun): Promise<AdmitReply> {
    const keyPermit = await this.#keyPermit(run);
    if (keyPermit !== null && 'waitMs' in keyPermit) return { verdict: 'key-limit', waitMs: keyPermit.waitMs };
    const ratePermit = await this.#ratePermit(run).catch(async (error: unknown) => {
      await this.#giveBack(keyPermit);
      throw error;
    });
    if (ratePermit === null || 'nonce' in ratePermit) {
      const { store, onTrouble } = this.options;
      const admission = new Admission(keyPermit, ratePermit, { store, onTrouble, onFree: () => this.#wakeNext(run) });
      return { verdict: 'admitted', admission };
    }
    await this.#giveBack(keyPermit);
    return { verdict: 'rate-limit', waitMs: ratePermit.waitMs };
  }

  /** For a run that will not begin, so that the runs behind it need not wait until its position expires. */
  async leave(run: LimitedRun): Promise<void> {
    const { runId } = run;
    const queues = [keyQueue(run), run.limits.rate ? rateQueue(run) : null].filter((resource) => resource !== null);
    await Promise.all(queues.map((resource) => this.#waitQueue.leave({ resource, runId })));
    this.#wakeNext(run);
  }

  /** Releases the permits that are still held. */
  async close(): Promise<void> {
    await this.#semaphores.close();
  }

  async #keyPermit(run: LimitedRun): Promise<Lease | Wait | null> {
    const { name, key, runId, jobId, limits } = run;
    const resource = keyQueue(run);
    if (resource === null) return null;
    const places = limits.perKey ?? 1;
    const semaphore = this.#semaphores.of(`job:${name}:${key}`, { places });
    return this.#queued({ resource, runId, jobId }, async (ahead) => {
      const lease = ahead < places ? await semaphore.tryAcquire() : null;
      return lease ?? { waitMs: NEXT_ASKS_MS * (1 + Math.max(0, ahead - places)) };
    });
  }

  async #ratePermit(run: LimitedRun): Promise<RatePermit | Wait | null> {
    const { name, runId } = run;
    const { rate } = run.limits;
    if (!rate) return null;
    const { max, perMs } = rate;
    return this.#queued({ resource: rateQueue(run), runId }, async (ahead) => {
      // Each run ahead needs a permit too, and `max` permits return per `perMs`.
      if (ahead >= max) return { waitMs: perMs * Math.floor(ahead / max) };
      const ratePermit = { resource: `job-rate:${name}`, nonce: randomUUID(), ttlMs: perMs };
      const { holder, store } = this.options;
      const reply = await store.acquire({ ...ratePermit, holder, floor: NO_FENCE, places: max });
      return reply.acquired ? ratePermit : { waitMs: reply.remainingMs };
    });
  }

  /** A run that got its permit leaves the queue; one that got none joins it, or keeps its position. */
  async #queued<T extends object>(waiter: Waiter, take: (ahead: number) => Promise<T | Wait>): Promise<T | Wait> {
    const { ahead, joined } = await this.#waitQueue.look(waiter);
    const taken = await take(ahead);
    if (!('waitMs' in taken)) {
      // Not awaited, so that it does not delay the run; an unused position expires soon.
      if (joined)
        this.#waitQueue.leave(waiter).catch((error: unknown) => this.options.onTrouble('wait-queue.leave', error));
      return taken;
    }
    const waitMs = this.#jittered(Math.min(taken.waitMs, MAX_WAIT_MS));
    return (await this.#waitQueue.join(waiter, waitMs)) ? { waitMs } : { waitMs: this.#jittered(QUEUE_FULL_MS) };
  }

  #wakeNext(run: LimitedRun): void {
    const { wake, onTrouble } = this.options;
    const resource = keyQueue(run);
    if (!wake || resource === null) return;
    // Wakes one more than there are permits: an earlier hint that got lost leaves one unused.
    this.#waitQueue.first(resource, Math.min(run.limits.perKey ?? 1, 2)).then(
      (jobIds) => jobIds.forEach(wake),
      (error: unknown) => onTrouble('wait-queue.read', error),
    );
  }

  /** Jitter: runs with the same wait would come back together. */
  #jittered(ms: number): number {
    return Math.ceil(ms * (1 + this.options.random() / 4));
  }

  async #giveBack(keyPermit: Lease | Wait | null): Promise<void> {
    if (keyPermit !== null && 'release' in keyPermit) await keyPermit.release().catch(() => {});
  }
}

interface Wait {
  readonly waitMs: number;
}

interface RatePermit {
  readonly resource: string;
  readonly nonce: string;
  readonly ttlMs: number;
}

/** The permits of one run. Must be released, however the run ends. */
export class Admission {
  #begun = false;
  #onLost: (() => void) | undefined;

  constructor(
    private readonly keyPermit: Lease | null,
    private readonly ratePermit: RatePermit | null,
    private readonly ports: Pick<LimiterOptions, 'store' | 'onTrouble'> & { readonly onFree: () => void },
  ) {}

  /** Calls back when the permit is lost: another run may have it by then. */
  watch(onLost: (reason: unknown) => void): void {
    const signal = this.keyPermit?.signal;
    if (!signal) return;
    this.#onLost = () => onLost(signal.reason);
    if (signal.aborted) this.#onLost();
    else signal.addEventListener('abort', this.#onLost, { once: true });
  }

  /** The attempt begins now: the period of its permit counts from here. */
  begun(): void {
    this.#begun = true;
    if (!this.ratePermit) return;
    const { store, onTrouble } = this.ports;
    store.renew([this.ratePermit], this.ratePermit.ttlMs).catch((error: unknown) => onTrouble('permit.renew', error));
  }

  /** Releases the permits, the rate permit only if the run did not begin. After a failure they expire. */
  async end(): Promise<void> {
    if (this.#onLost) this.keyPermit?.signal.removeEventListener('abort', this.#onLost);
    const { store, onTrouble } = this.ports;
    const ratePermit = this.#begun ? null : this.ratePermit;
    const given = await Promise.allSettled([this.keyPermit?.release(), ratePermit && store.release([ratePermit])]);
    for (const one of given) if (one.status === 'rejected') onTrouble('permit.release', one.reason);
    this.ports.onFree();
  }
}

function keyQueue({ name, key }: LimitedRun): string | null {
  return key === null ? null : `job-line:${name}:${key}`;
}

function rateQueue({ name }: LimitedRun): string {
  return `job-rate-line:${name}`;
}

/** At most this many runs wait for one resource; a further one is not queued and asks again later. */
const MAX_WAITING = 100;

/** Added to the announced wait before a position expires: the next delivery may wait for a free worker. */
const PATIENCE_MS = 5_000;

export interface Waiter {
  /** The resource that runs wait for; positions in the queue are permits under another name. */
  readonly resource: string;
  readonly runId: string;
  /** The job to wake, if there is one. */
  readonly jobId?: string | undefined;
}

/**
 * The runs that wait for a permit, first come, first served.
 *
 * It is a semaphore itself: each waiting run holds one of its permits, and the fences, which only rise, are the order. So a
 * run keeps its position when another worker gets its next delivery, and a run that is never delivered again loses it.
 */
export class WaitQueue {
  constructor(private readonly store: SemaphoreStore) {}

  /** How many runs are ahead, and whether this one waits already. */
  async look({ resource, runId }: Waiter): Promise<{ readonly ahead: number; readonly joined: boolean }> {
    const waiting = await this.store.holders(resource);
    const own = waiting.findIndex(({ holder }) => holder.startsWith(nonceOf(runId)));
    return own < 0 ? { ahead: waiting.length, joined: false } : { ahead: own, joined: true };
  }

  /** Takes a position, or keeps it. @returns false when the queue is full */
  async join({ resource, runId, jobId = '' }: Waiter, waitMs: number): Promise<boolean> {
    const nonce = nonceOf(runId);
    const reply = await this.store.acquire({
      ...{ resource, nonce, holder: `${nonce}:${jobId}`, ttlMs: waitMs + PATIENCE_MS },
      ...{ floor: NO_FENCE, places: MAX_WAITING },
    });
    return reply.acquired;
  }

  /** The job ids of the first waiting runs that have one. */
  async first(resource: string, max: number): Promise<string[]> {
    const waiting = await this.store.holders(resource);
    return waiting.slice(0, max).flatMap(({ holder }) => holder.slice(holder.indexOf(':') + 1) || []);
  }

  async leave({ resource, runId }: Waiter): Promise<void> {
    await this.store.release([{ resource, nonce: nonceOf(runId) }]);
  }
}

/** A run id may contain characters that a nonce may not. */
function nonceOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
