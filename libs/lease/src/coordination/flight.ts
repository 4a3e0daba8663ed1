import type { Clock } from '../base/clock.js';
import { LeaseLostError, StaleFenceError, SetupError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import { reservedResource } from '../base/resource.js';
import type { Lease } from '../holding/held-lease.js';
import type { Leases } from '../holding/leases.js';
import { waitFor } from '../holding/waiting.js';
import type { FencedValues, FencedValue } from '../sinks/fenced-values.js';
import { FlightValueError } from './flight-errors.js';
import { parseDuration } from '../base/checked-options.js';

export interface BuildContext {
  /** Aborts when the lease is lost: another process builds, and the result of this build will be refused. */
  readonly signal: AbortSignal;
  /** For what the build itself writes. */
  readonly fence: Fence;
}

export type Build = (context: BuildContext) => Promise<unknown>;

/** Shared by all flights of a process. */
export interface Airport {
  readonly leases: Leases;
  readonly cache: FencedValues;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxBytes: number;
}

export interface FlightRequest {
  readonly key: string;
  readonly plan: FlightPlan;
  readonly build: Build;
  /** Whether to wait while another process builds: a caller with a stale value doesn't. */
  readonly patient: boolean;
  /** Of the value to be replaced. */
  readonly floor?: Fence | undefined;
}

type Found = { readonly acquired: true; readonly text: string } | { readonly acquired: true; readonly lease: Lease };

/**
 * This process's part in getting one value, for all its callers that ask meanwhile: waiting for the process that builds it, or
 * building it. Waiting ends with the last caller, a build that has begun does not: the next caller will want it.
 */
export class Flight {
  /** The value, or `null`: another process builds, and this caller doesn't wait. */
  readonly #outcome: Promise<string | null>;
  readonly #airport: Airport;
  readonly #request: FlightRequest;
  readonly #deserted = new AbortController();
  #callers = 0;
  #building = false;

  constructor(airport: Airport, request: FlightRequest) {
    this.#airport = airport;
    this.#request = request;
    this.#outcome = this.#fly();
    // Everybody may have left by the time a build fails.
    this.#outcome.catch(() => {});
  }

  /** All callers have left and it has given up; the next caller needs another flight. */
  get isOver(): boolean {
    return this.#deserted.signal.aborted && !this.#building;
  }

  /** Runs `landed` at the end, after success and failure. */
  onEnd(landed: () => void): void {
    void this.#outcome.catch(() => {}).then(landed);
  }

  /** @throws what the build throws, or the reason of `limit` when that aborts first */
  async join(limit: AbortSignal): Promise<string | null> {
    this.#callers += 1;
    try {
      return await unlessAborted(this.#outcome, limit);
    } finally {
      this.#callers -= 1;
      if (this.#callers === 0) this.#deserted.abort();
    }
  }

  async #fly(): Promise<string | null> {
    for (;;) {
      const found = this.#request.patient ? await this.#awaitTurn() : await this.#try();
      if (!found) return null;
      if ('text' in found) return found.text;
      const text = await this.#build(found.lease);
      if (text !== null || !this.#request.patient) return text;
    }
  }

  #awaitTurn(): Promise<Found> {
    const { clock, random, leases } = this.#airport;
    const waiting = {
      clock,
      random,
      hints: leases.hints,
      resources: [this.#resource],
      waitMs: Number.POSITIVE_INFINITY,
    };
    return waitFor<Found | Busy>(() => this.#look(), { ...waiting, signal: this.#deserted.signal });
  }

  /** The value first: of a hundred processes that were waiting for it, none has to take the lease. */
  async #look(): Promise<Found | Busy> {
    const cached = await this.#airport.cache.get(this.#request.key);
    if (cached && usability(cached, this.#request.plan) !== 'none') return { acquired: true, text: cached.value };
    const found = await this.#try(cached?.fence);
    if (found) return found;
    const holding = await this.#airport.leases.inspect(this.#resource);
    return { acquired: false, remainingMs: holding?.remainingMs ?? 1 };
  }

  async #try(floor: Fence | undefined = this.#request.floor): Promise<Found | null> {
    const { ttl } = this.#request.plan;
    const options = { ...(ttl === undefined ? {} : { ttl }), ...(floor === undefined ? {} : { floor }) };
    const lease = await this.#airport.leases.tryAcquire(reservedResource('flight', this.#request.key), options);
    return lease && { acquired: true, lease };
  }

  /** @returns `null` when another process has taken over: its value counts */
  async #build(lease: Lease): Promise<string | null> {
    this.#building = true;
    try {
      return await this.#airport.leases.run(lease, () => this.#buildUnder(lease));
    } catch (error) {
      if (this.#isSuperseded(error)) return null;
      throw error;
    } finally {
      this.#building = false;
    }
  }

  async #buildUnder({ signal, fence }: Lease): Promise<string> {
    const { cache, maxBytes } = this.#airport;
    const { key, plan, build } = this.#request;
    // The previous holder may have finished between our read of the cache and now.
    const cached = await cache.get(key);
    if (cached && usability(cached, plan) === 'fresh') return cached.value;
    const text = encodeValue(key, await build({ signal, fence }), maxBytes);
    await cache.set(key, text, { fence, ttlMs: plan.freshMs + plan.staleMs });
    return text;
  }

  #isSuperseded(error: unknown): boolean {
    if (error instanceof LeaseLostError) return error.resource === this.#resource;
    return error instanceof StaleFenceError && error.resource === this.#request.key;
  }

  get #resource(): string {
    return `flight:${this.#request.key}`;
  }
}

interface Busy {
  readonly acquired: false;
  readonly remainingMs: number;
}

/** Waits for `work` until `signal` aborts, then rejects with its reason. `work` goes on for its other waiters. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * A value as the cache keeps it.
 * @throws {FlightValueError} when JSON can't say it, or when it takes more than `maxBytes`
 */
export function encodeValue(key: string, value: unknown, maxBytes: number): string {
  const text = toJson(key, value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  throw new FlightValueError(
    key,
    `a value of ${bytes} bytes, more than the ${maxBytes} allowed. Cache less of it, or raise maxBytes.`,
  );
}

function toJson(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new FlightValueError(key, 'a value that JSON cannot express. Return plain data; see the cause.', {
      cause,
    });
  }
  if (text !== undefined) return text;
  const what = value === undefined ? 'undefined' : `a ${typeof value}`;
  throw new FlightValueError(key, `${what}, which JSON cannot express. Return null for no value.`);
}

export interface FlightOptions {
  /** How long a value is taken without a question. */
  readonly fresh: string | number;
  /**
   * How much longer it is given to others while one caller rebuilds it; default: not at all. Counted from the end of
   * `fresh`, as in RFC 5861 (stale-while-revalidate).
   */
  readonly stale?: string | number;
  /** How long this caller waits for a value at most; default `10s`. */
  readonly wait?: string | number;
  /** For the caller that rebuilds while there is a stale value: take that when `wait` is over (default), or throw. */
  readonly onTimeout?: 'stale' | 'throw';
  /** Of the lease under which the value is built; default: that of `leases`. It is renewed for as long as the build takes. */
  readonly ttl?: string | number;
  /** Ends this caller's waiting with the signal's reason. A build that has begun goes on. */
  readonly signal?: AbortSignal;
}

export interface FlightPlan {
  readonly freshMs: number;
  readonly staleMs: number;
  readonly waitMs: number;
  readonly onTimeout: 'stale' | 'throw';
  readonly ttl: string | number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws {SetupError} for a text that is no duration, and for a value that would never be fresh */
export function flightPlan(options: FlightOptions): FlightPlan {
  const { fresh, stale = 0, wait = '10s', onTimeout = 'stale', ttl, signal } = options;
  const plan = { freshMs: parseDuration(fresh), staleMs: parseDuration(stale), waitMs: parseDuration(wait) };
  // Otherwise the waiters would find the value expired as soon as it exists, and build it one after the other.
  if (plan.freshMs === 0) throw new SetupError(`Expected fresh to be longer than 0, got ${JSON.stringify(fresh)}.`);
  return { ...plan, onTimeout, ttl, signal };
}

type Usability = 'fresh' | 'stale' | 'none';

/** The use of a cached value at its age. */
export function usability(cached: FencedValue | null, { freshMs, staleMs }: FlightPlan): Usability {
  if (!cached || cached.ageMs >= freshMs + staleMs) return 'none';
  return cached.ageMs < freshMs ? 'fresh' : 'stale';
}
