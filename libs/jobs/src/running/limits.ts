import { randomUUID } from 'node:crypto';
import { NO_FENCE, type Clock, type Lease } from '@fencepost/lease';
import { Semaphores, type SemaphoreStore } from '@fencepost/lease/coordination';
import type { Failure } from '../telemetry/events.js';
import type { Limits } from './delivery.js';
import { WaitQueue, type Waiter } from './wait-queue.js';

export interface LimiterOptions {
  readonly store: SemaphoreStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** Identity of this worker process. */
  readonly holder: string;
  /** How long the place of a worker that died stays taken, milliseconds from 300; an hour at the most. */
  readonly ttlMs: number;
  /** A store that does not answer in the background. */
  readonly onTrouble: (operation: Failure['operation'], error: unknown) => void;
  /** Has a waiting job brought again at once. A hint: it comes again by itself, only later. */
  readonly wake?: (jobId: string) => void;
}

export interface LimitedRun {
  readonly runId: string;
  /** Of the delivery that brought it. */
  readonly jobId?: string | undefined;
  /** Whose limits they are: the name the handler was declared with. */
  readonly name: string;
  readonly limits: Limits;
  /** `null` where the limits have none. */
  readonly key: string | null;
}

export type AdmitReply =
  | { readonly verdict: 'admitted'; readonly admission: Admission }
  | { readonly verdict: 'key-limit' | 'rate-limit'; readonly waitMs: number };

const MAX_PERMIT_MS = 3_600_000;
/** The first waiting run asks this often: the end of a run wakes it, the death of a worker does not. */
const NEXT_ASKS_MS = 500;
/** Nobody waits longer to be asked for again: a turn that nobody takes holds up those behind it. */
const MAX_WAIT_MS = 10_000;
/** Those for whom the line has no room. */
const QUEUE_FULL_MS = 30_000;

/**
 * Lets runs begin as the limits of their handler allow, over all workers: a place for each that goes on with the same key, a
 * permit for each that begins, which comes back when its time is over. A run that finds none waits in the queue.
 */
export class Limiter {
  readonly #semaphores: Semaphores;
  readonly #waitQueue: WaitQueue;

  constructor(private readonly options: LimiterOptions) {
    const { store, clock, random, holder, ttlMs } = options;
    this.#semaphores = new Semaphores({ store, clock, random, holder, ttl: Math.min(ttlMs, MAX_PERMIT_MS) });
    this.#waitQueue = new WaitQueue(store);
  }

  /** @throws when the store could not be asked; what was taken until then is given back, or runs out */
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

  /** For a run that will not begin: those behind it need not wait until its position expires. */
  async leave(run: LimitedRun): Promise<void> {
    const { runId } = run;
    const queues = [keyQueue(run), run.limits.rate ? rateQueue(run) : null].filter((resource) => resource !== null);
    await Promise.all(queues.map((resource) => this.#waitQueue.leave({ resource, runId })));
    this.#wakeNext(run);
  }

  /** Gives back the places that are still held. */
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
      // Of those ahead each needs a permit too, and `max` come back in `perMs`.
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
      // It must not hold up what was taken; a turn that nobody comes for is over soon.
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
    // One more than has room now, where there may be two: a hint that got lost before leaves a place empty.
    this.#waitQueue.first(resource, Math.min(run.limits.perKey ?? 1, 2)).then(
      (jobIds) => jobIds.forEach(wake),
      (error: unknown) => onTrouble('wait-queue.read', error),
    );
  }

  /** A little later by chance: those that were told the same would come together. */
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

/** What a run was let in with. To be ended, whatever became of the run. */
export class Admission {
  #begun = false;
  #onLost: (() => void) | undefined;

  constructor(
    private readonly keyPermit: Lease | null,
    private readonly ratePermit: RatePermit | null,
    private readonly ports: Pick<LimiterOptions, 'store' | 'onTrouble'> & { readonly onFree: () => void },
  ) {}

  /** Tells when the place is lost, and others may go on in it. */
  watch(onLost: (reason: unknown) => void): void {
    const signal = this.keyPermit?.signal;
    if (!signal) return;
    this.#onLost = () => onLost(signal.reason);
    if (signal.aborted) this.#onLost();
    else signal.addEventListener('abort', this.#onLost, { once: true });
  }

  /** The attempt begins now: its permit counts from here, and not from when it was asked for. */
  begun(): void {
    this.#begun = true;
    if (!this.ratePermit) return;
    const { store, onTrouble } = this.ports;
    store.renew([this.ratePermit], this.ratePermit.ttlMs).catch((error: unknown) => onTrouble('permit.renew', error));
  }

  /** Gives the place back, and the permit of a run that did not begin. What can't be given back runs out by itself. */
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
