import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LeaseStore } from '@fencepost/lease';
import { MemoryLeaseStore, ManualClock } from '@fencepost/lease/testing';
import { wallClocks, type WallClocks } from '../support/faketime.js';
import { LeaseBook } from './lease-book.js';
import { leaseCommands, type LeaseWorld, type Fault } from './lease-commands.js';
import { request, win } from '../support/lease-requests.js';
import { atMost } from '../support/run-length.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { RedisLeaseWorld } from './redis-lease-world.js';
import { leaseSandbox, type PostgresSandbox } from '../support/postgres-sandbox.js';

/** The adapter in memory. */
class MemoryLeaseWorld implements LeaseWorld {
  readonly #clock = new ManualClock();
  readonly #store = new MemoryLeaseStore({ clock: this.#clock });

  store(): MemoryLeaseStore {
    // Nothing takes no time, or two fences would be issued in one instant.
    this.#clock.jumpWall(1);
    return this.#store;
  }

  now(): number {
    return this.#clock.now();
  }

  step(ms: number): void {
    this.#clock.jumpWall(ms);
  }

  readonly faults = {
    clear: async (book) => {
      this.#store.clear();
      book.forget();
    },
  } satisfies Record<string, Fault>;
}

/** A PostgreSQL, whose clock is this machine's and stays what it is. */
class PostgresLeaseWorld implements LeaseWorld {
  private constructor(private readonly sandbox: PostgresSandbox) {}

  static async open(url: string): Promise<PostgresLeaseWorld> {
    return new PostgresLeaseWorld(await leaseSandbox(url));
  }

  /** For the next run: nothing is stored. */
  async fresh(): Promise<void> {
    await this.#truncate();
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }

  store(): LeaseStore {
    return this.sandbox.store();
  }

  now(): number {
    return Date.now();
  }

  readonly faults = {
    TRUNCATE: async (book) => {
      await this.#truncate();
      book.forget();
    },
  } satisfies Record<string, Fault>;

  async #truncate(): Promise<void> {
    await this.sandbox.pool.query(`TRUNCATE "${this.sandbox.schema}".leases`);
  }
}

interface Play {
  readonly numRuns: number;
  readonly faults: readonly string[];
  readonly fresh: () => Promise<LeaseWorld>;
  /** The store deletes what it has seen end. */
  readonly endsForGood?: boolean;
  /** The store's clock can be stepped. */
  readonly steps?: boolean;
}

/** Lives through random lives of a store; says what came to pass in them. */
async function play({ numRuns, fresh, endsForGood = false, ...of }: Play): Promise<string[]> {
  const seen = new Set<string>();
  const property = fc.asyncProperty(leaseCommands({ steps: true, ...of }), async (commands) => {
    const real = await fresh();
    await fc.asyncModelRun(() => ({ model: new LeaseBook({ seen, endsForGood }), real }), commands);
  });
  await fc.assert(property, { ...atMost(numRuns), interruptAfterTimeLimit: MAX_RUN_MS });
  return [...seen].toSorted();
}

/** A failure is made smaller for as long, and a slow machine gets by with fewer lives. */
const MAX_RUN_MS = 20_000;

const ANSWERS = ['acquire', 'release', 'renew'].flatMap((asked) => [`${asked}: false`, `${asked}: true`]);
const OFTEN = ['acquire: again', 'fence: increases over lost data', ...ANSWERS];
const RAISED = ['raise: false', 'raise: true'];

describe('leases in a Redis', () => {
  let clocks: WallClocks;
  let world: RedisLeaseWorld;
  beforeAll(async () => {
    clocks = await wallClocks();
    world = await RedisLeaseWorld.open(clocks);
  });
  afterAll(async () => {
    await world?.close();
    clocks?.close();
  });

  const fresh = async () => {
    await world.fresh();
    return world;
  };

  it('keep to what the README says, whatever is asked, forgotten, cut off and stepped', async () => {
    const faults = ['FLUSHALL', 'FLUSHALL', 'SCRIPT FLUSH', 'SCRIPT FLUSH', 'CLIENT KILL'];
    const seen = await play({ numRuns: 400, faults, fresh, endsForGood: true });
    expect(seen).toEqual(expect.arrayContaining([...OFTEN, ...RAISED, 'acquire: cuts']));
  });

  it('keep to it over restarts, old snapshots and failovers to a replica that missed the last writes', async () => {
    const faults = ['restart', 'restart empty', 'SAVE', 'a replica falls behind', 'failover', 'FLUSHALL'];
    const seen = await play({ numRuns: 60, faults, fresh, endsForGood: true });
    expect(seen).toEqual(expect.arrayContaining(OFTEN));
  });

  const both = [true, false];
  const CASES = both.flatMap((lost) =>
    both.flatMap((back) => both.map((known) => ({ lost, back, known, increases: !lost || !back || known }))),
  );

  it.each(CASES)(
    'issue a larger fence: $increases, data lost: $lost, clock back: $back, floor given: $known',
    async (of) => {
      await world.fresh();
      const { fence } = await win(world.store(0), { ttlMs: 1 });
      const started = world.now();
      await expect.poll(() => world.store(0).inspect(['r'])).toEqual([null]);
      if (of.lost) await world.faults.FLUSHALL(new LeaseBook({ seen: new Set(), endsForGood: true }));
      if (of.back) world.step(started - world.now() - 3_600_000);
      const next = await world.store(1).acquire(request(of.known ? { floor: fence } : {}));
      expect(next.acquired && next.fence > fence).toBe(of.increases);
    },
  );
});

describe('leases in memory', () => {
  it('keep to the same', async () => {
    const seen = await play({ numRuns: 1_000, faults: ['clear'], fresh: async () => new MemoryLeaseWorld() });
    expect(seen).toEqual(expect.arrayContaining([...OFTEN, ...RAISED, 'acquire: cuts']));
  });
});

describe('leases in a PostgreSQL', () => {
  let postgres: TestPostgres;
  let world: PostgresLeaseWorld;
  beforeAll(async () => {
    postgres = await postgresForTests();
    world = await PostgresLeaseWorld.open(postgres.url);
  });
  afterAll(async () => {
    await world?.close();
  });

  const fresh = async () => {
    await world.fresh();
    return world;
  };

  it('keep to the same, by a clock that is not stepped', async () => {
    const seen = await play({ numRuns: 60, faults: ['TRUNCATE'], fresh, steps: false });
    expect(seen).toEqual(expect.arrayContaining(OFTEN));
  });
});
