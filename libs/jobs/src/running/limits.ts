import { randomUUID } from 'node:crypto';
import { NO_FENCE, type Clock, type Lease } from '@fencepost/lease';
import { Semaphores, type SemaphoreStore } from '@fencepost/lease/coordination';
import type { Limits } from './carrier.js';
import { Line, type InLine } from './line.js';

export interface LimiterOptions {
  readonly store: SemaphoreStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** Identity of this worker process. */
  readonly holder: string;
  /** How long the place of a worker that died stays taken, milliseconds from 300; an hour at the most. */
  readonly ttlMs: number;
  /** A store that does not answer in the background. */
  readonly onTrouble: (doing: string, error: unknown) => void;
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

export type Admission =
  | { readonly verdict: 'admitted'; readonly pass: Pass }
  | { readonly verdict: 'key-limit' | 'rate-limit'; readonly waitMs: number };

const LONGEST_PLACE_MS = 3_600_000;
/** Who is next in line asks so often: it is woken when somebody ends, and when somebody dies it is not. */
const NEXT_ASKS_MS = 500;
/** Nobody waits longer to be asked for again: a turn that nobody takes holds up those behind it. */
const LONGEST_WAIT_MS = 10_000;
/** Those for whom the line has no room. */
const OUT_OF_LINE_MS = 30_000;

/**
 * Lets runs begin as the limits of their handler allow, over all workers: a place for each that goes on with the same key, a
 * permit for each that begins, which comes back when its time is over. Who finds none waits in line.
 */
export class Limiter {
  readonly #semaphores: Semaphores;
  readonly #line: Line;

  constructor(private readonly options: LimiterOptions) {
    const { store, clock, random, holder, ttlMs } = options;
    this.#semaphores = new Semaphores({ store, clock, random, holder, ttl: Math.min(ttlMs, LONGEST_PLACE_MS) });
    this.#line = new Line(store);
  }

  /** @throws when the store could not be asked; what was taken until then is given back, or runs out */
  async admit(run: LimitedRun): Promise<Admission> {
    const place = await this.#place(run);
    if (place !== null && 'waitMs' in place) return { verdict: 'key-limit', waitMs: place.waitMs };
    const permit = await this.#permit(run).catch(async (error: unknown) => {
      await this.#giveBack(place);
      throw error;
    });
    if (permit === null || 'nonce' in permit) {
      const { store, onTrouble } = this.options;
      const pass = new Pass(place, permit, { store, onTrouble, onFree: () => this.#wakeNext(run) });
      return { verdict: 'admitted', pass };
    }
    await this.#giveBack(place);
    return { verdict: 'rate-limit', waitMs: permit.waitMs };
  }

  /** For a run that will not begin: those behind it in line need not wait until it is missed. */
  async leave(run: LimitedRun): Promise<void> {
    const { runId } = run;
    const lines = [keyLine(run), run.limits.rate ? rateLine(run) : null].filter((resource) => resource !== null);
    await Promise.all(lines.map((resource) => this.#line.leave({ resource, runId })));
    this.#wakeNext(run);
  }

  /** Gives back the places that are still held. */
  async close(): Promise<void> {
    await this.#semaphores.close();
  }

  async #place(run: LimitedRun): Promise<Lease | Wait | null> {
    const { name, key, runId, jobId, limits } = run;
    const resource = keyLine(run);
    if (resource === null) return null;
    const places = limits.perKey ?? 1;
    const semaphore = this.#semaphores.of(`job:${name}:${key}`, { places });
    return this.#inTurn({ resource, runId, jobId }, async (ahead) => {
      const lease = ahead < places ? await semaphore.tryAcquire() : null;
      return lease ?? { waitMs: NEXT_ASKS_MS * (1 + Math.max(0, ahead - places)) };
    });
  }

  async #permit(run: LimitedRun): Promise<Permit | Wait | null> {
    const { name, runId } = run;
    const { rate } = run.limits;
    if (!rate) return null;
    const { max, perMs } = rate;
    return this.#inTurn({ resource: rateLine(run), runId }, async (ahead) => {
      // Of those ahead each needs a permit too, and `max` come back in `perMs`.
      if (ahead >= max) return { waitMs: perMs * Math.floor(ahead / max) };
      const permit = { resource: `job-rate:${name}`, nonce: randomUUID(), ttlMs: perMs };
      const { holder, store } = this.options;
      const reply = await store.acquire({ ...permit, holder, floor: NO_FENCE, places: max });
      return reply.acquired ? permit : { waitMs: reply.remainingMs };
    });
  }

  /** Who was in line leaves it with what it waited for; who found nothing joins, or keeps its turn. */
  async #inTurn<T extends object>(turn: InLine, take: (ahead: number) => Promise<T | Wait>): Promise<T | Wait> {
    const { ahead, joined } = await this.#line.look(turn);
    const taken = await take(ahead);
    if (!('waitMs' in taken)) {
      // It must not hold up what was taken; a turn that nobody comes for is over soon.
      if (joined) this.#line.leave(turn).catch((error: unknown) => this.options.onTrouble('leaving a line', error));
      return taken;
    }
    const waitMs = this.#jittered(Math.min(taken.waitMs, LONGEST_WAIT_MS));
    return (await this.#line.join(turn, waitMs)) ? { waitMs } : { waitMs: this.#jittered(OUT_OF_LINE_MS) };
  }

  #wakeNext(run: LimitedRun): void {
    const { wake, onTrouble } = this.options;
    const resource = keyLine(run);
    if (!wake || resource === null) return;
    // One more than has room now, where there may be two: a hint that got lost before leaves a place empty.
    this.#line.first(resource, Math.min(run.limits.perKey ?? 1, 2)).then(
      (jobIds) => jobIds.forEach(wake),
      (error: unknown) => onTrouble('looking who is next in line', error),
    );
  }

  /** A little later by chance: those that were told the same would come together. */
  #jittered(ms: number): number {
    return Math.ceil(ms * (1 + this.options.random() / 4));
  }

  async #giveBack(place: Lease | Wait | null): Promise<void> {
    if (place !== null && 'release' in place) await place.release().catch(() => {});
  }
}

interface Wait {
  readonly waitMs: number;
}

interface Permit {
  readonly resource: string;
  readonly nonce: string;
  readonly ttlMs: number;
}

/** What a run was let in with. To be ended, whatever became of the run. */
export class Pass {
  #begun = false;
  #onLost: (() => void) | undefined;

  constructor(
    private readonly place: Lease | null,
    private readonly permit: Permit | null,
    private readonly ports: Pick<LimiterOptions, 'store' | 'onTrouble'> & { readonly onFree: () => void },
  ) {}

  /** Tells when the place is lost, and others may go on in it. */
  watch(onLost: (reason: unknown) => void): void {
    const signal = this.place?.signal;
    if (!signal) return;
    this.#onLost = () => onLost(signal.reason);
    if (signal.aborted) this.#onLost();
    else signal.addEventListener('abort', this.#onLost, { once: true });
  }

  /** The attempt begins now: its permit counts from here, and not from when it was asked for. */
  begun(): void {
    this.#begun = true;
    if (!this.permit) return;
    const { store, onTrouble } = this.ports;
    store.renew([this.permit], this.permit.ttlMs).catch((error: unknown) => onTrouble('prolonging a permit', error));
  }

  /** Gives the place back, and the permit of a run that did not begin. What can't be given back runs out by itself. */
  async end(): Promise<void> {
    if (this.#onLost) this.place?.signal.removeEventListener('abort', this.#onLost);
    const { store, onTrouble } = this.ports;
    const permit = this.#begun ? null : this.permit;
    const given = await Promise.allSettled([this.place?.release(), permit && store.release([permit])]);
    for (const one of given) if (one.status === 'rejected') onTrouble('giving a place back', one.reason);
    this.ports.onFree();
  }
}

function keyLine({ name, key }: LimitedRun): string | null {
  return key === null ? null : `job-line:${name}:${key}`;
}

function rateLine({ name }: LimitedRun): string {
  return `job-rate-line:${name}`;
}
