import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { FencedValue, FencedValues } from '../sinks/fenced-values.js';
import type { Leases } from '../holding/leases.js';
import { resourceName } from '../base/resource.js';
import type { ResourceName } from '../base/resource.js';
import { FlightTimeoutError } from './flight-errors.js';
import { flightPlan, usability, Flight } from './flight.js';
import type { FlightOptions, FlightPlan, Airport, Build, BuildContext } from './flight.js';

export interface SingleFlightOptions {
  readonly leases: Leases;
  /** Where values are kept, such as `RedisFencedValues`; in a collection of its own. */
  readonly cache: FencedValues;
  /** The largest value as JSON, in bytes; default 1 MiB: a Redis serves no other client while it copies a value. */
  readonly maxBytes?: number;
  readonly clock?: Clock;
  /** From 0 up to 1; jitters the waiting. */
  readonly random?: () => number;
}

interface Call {
  readonly key: string;
  readonly plan: FlightPlan;
  readonly build: Build;
  /** Aborts when this caller has waited long enough, or doesn't want to any more. */
  readonly limit: AbortSignal;
}

/**
 * One caller rebuilds a cache entry, over all processes; the others wait for it or take the stale value.
 *
 * Who builds has a lease, so a builder that dies makes room for the next within its ttl. The value is written under the
 * lease's fence, so a builder that was paused and finishes late can't overwrite a newer value. An error goes to those who
 * wait for the build in the same process, isn't cached, and lets one who waits elsewhere try: one at a time.
 *
 * A build that never ends keeps its lease. Give what it calls a timeout.
 */
export class SingleFlight {
  readonly #airport: Airport;
  readonly #flights = new Map<string, Flight>();

  constructor(options: SingleFlightOptions) {
    const { leases, cache, maxBytes = 1_048_576, clock = systemClock, random = Math.random } = options;
    this.#airport = { leases, cache, maxBytes, clock, random };
  }

  /**
   * The value of `key`: from the cache while it is fresh; else the stale one at once, when another caller rebuilds it already;
   * else what `build` returns, here or wherever it is running.
   *
   * Values are JSON, and every caller gets a copy of its own, the one that built it too: a `Date` comes back as text for all.
   * `undefined` is no value; return `null`. All calls for one key have the same windows and the same build.
   * @throws {FlightTimeoutError} when there is neither a value nor a stale one after `wait`
   * @throws {FlightValueError} when what the build returned is not JSON, or too large
   * @throws {SetupError} for options or a key that can't be
   * @throws what `build` throws, and the reason of `signal`
   */
  async get<T>(key: ResourceName, options: FlightOptions, build: (context: BuildContext) => Promise<T>): Promise<T> {
    const plan = flightPlan(options);
    const name = resourceName(key);
    const timeUp = new AbortController();
    const cancel = this.#airport.clock.after(plan.waitMs, () => {
      timeUp.abort(new FlightTimeoutError(name, plan.waitMs));
    });
    const limit = plan.signal ? AbortSignal.any([timeUp.signal, plan.signal]) : timeUp.signal;
    try {
      return JSON.parse(await this.#text({ key: name, plan, build, limit })) as T;
    } finally {
      cancel();
    }
  }

  async #text(call: Call): Promise<string> {
    for (;;) {
      call.plan.signal?.throwIfAborted();
      // Not bounded by the limit: looking is not waiting, and a value that is at hand is better than a timeout.
      const cached = await this.#airport.cache.get(call.key);
      const use = usability(cached, call.plan);
      if (cached && use === 'fresh') return cached.value;
      const text = cached && use === 'stale' ? await this.#refreshed(call, cached) : await this.#built(call, cached);
      // A flight that didn't wait has brought nothing: look again, and wait this time.
      if (text !== null) return text;
    }
  }

  #built(call: Call, cached: FencedValue | null): Promise<string | null> {
    const flight = this.#running(call.key) ?? this.#start(call, { patient: true, floor: cached?.fence });
    return flight.join(call.limit);
  }

  /** The caller that begins the rebuild waits for it and gets its error. All others take the stale value. */
  async #refreshed(call: Call, stale: FencedValue): Promise<string> {
    if (this.#running(call.key)) return stale.value;
    const flight = this.#start(call, { patient: false, floor: stale.fence });
    try {
      return (await flight.join(call.limit)) ?? stale.value;
    } catch (error) {
      const isLate = error instanceof FlightTimeoutError && error === call.limit.reason;
      if (isLate && call.plan.onTimeout === 'stale') return stale.value;
      throw error;
    }
  }

  #running(key: string): Flight | undefined {
    const flight = this.#flights.get(key);
    return flight?.isOver ? undefined : flight;
  }

  #start({ key, plan, build }: Call, how: { patient: boolean; floor: FencedValue['fence'] | undefined }): Flight {
    const flight = new Flight(this.#airport, { key, plan, build, ...how });
    this.#flights.set(key, flight);
    flight.onEnd(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    return flight;
  }
}
