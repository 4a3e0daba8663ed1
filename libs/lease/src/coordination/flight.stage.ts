import { expect } from 'vitest';
import { Leases } from '../holding/leases.js';
import { type LeaseEvent } from '../telemetry/lease-events.js';
import { SingleFlight } from './single-flight.js';
import { type BuildContext } from './flight.js';
import { MemoryFencedValues } from '../sinks/memory-fenced-values.js';
import { type FencedValues } from '../sinks/fenced-values.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import { flaky } from '../../../../test/support/flaky.js';
import type { Flaky } from '../../../../test/support/flaky.js';

/** Two processes and more that share a cache and a lease store, on a clock that a test turns. */
export class FlightStage {
  readonly clock = new ManualClock();
  readonly store = new MemoryLeaseStore({ clock: this.clock });
  readonly rejections: LeaseEvent[] = [];
  readonly memory = new MemoryFencedValues({
    clock: this.clock,
    observe: (event) => void this.rejections.push(event),
  });
  /** The cache as `here` reaches it. */
  readonly cache: Flaky<FencedValues> = flaky<FencedValues>(this.memory);
  readonly here = this.process(this.cache.port);
  readonly elsewhere = this.process();

  /** What a process has of its own. */
  process(cache: FencedValues = this.memory): SingleFlight {
    const { store, clock } = this;
    const leases = new Leases({ store, clock, ttl: '10s', random: () => 0.5 });
    return new SingleFlight({ leases, cache, clock, random: () => 0.5, maxBytes: 100 });
  }

  build(): HeldBuild {
    return new HeldBuild(this.clock);
  }
}

/** A build that ends when the test says so. */
class HeldBuild {
  readonly contexts: BuildContext[] = [];
  readonly #ends: { resolve(value: unknown): void; reject(error: Error): void }[] = [];

  constructor(private readonly clock: ManualClock) {}

  readonly run = (context: BuildContext): Promise<unknown> => {
    this.contexts.push(context);
    return new Promise((resolve, reject) => void this.#ends.push({ resolve, reject }));
  };

  get times(): number {
    return this.contexts.length;
  }

  async end(value: unknown): Promise<void> {
    (await this.#next())?.resolve(value);
    await this.clock.advance(0);
  }

  async fail(error: Error): Promise<void> {
    (await this.#next())?.reject(error);
    await this.clock.advance(0);
  }

  /** The build that runs, when everybody got as far as they can without time passing. */
  async #next() {
    await this.clock.advance(0);
    expect(this.#ends).not.toHaveLength(0);
    return this.#ends.shift();
  }
}

export const never = () => Promise.reject(new Error('Expected not to be built here.'));
export const quick = (value: unknown) => async () => value;

interface Outcome {
  readonly state: 'waiting' | 'done' | 'failed';
  /** The value or the error. */
  readonly ended: () => Promise<unknown>;
}

/** Watched from now on, so that a rejection that comes before somebody looks is no stray one. */
export function outcomeOf(work: Promise<unknown>): Outcome {
  let state: Outcome['state'] = 'waiting';
  const end = (how: Outcome['state']) => (what: unknown) => {
    state = how;
    return what;
  };
  const ended = work.then(end('done'), end('failed'));
  return {
    get state() {
      return state;
    },
    ended: () => ended,
  };
}
