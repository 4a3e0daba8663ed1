import { parseDuration } from '../base/duration.js';
import { SetupError } from '../base/errors.js';
import type { FencedValue } from '../sinks/fenced-values.js';

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

export type Usability = 'fresh' | 'stale' | 'none';

/** The use of a cached value at its age. */
export function usability(cached: FencedValue | null, { freshMs, staleMs }: FlightPlan): Usability {
  if (!cached || cached.ageMs >= freshMs + staleMs) return 'none';
  return cached.ageMs < freshMs ? 'fresh' : 'stale';
}
