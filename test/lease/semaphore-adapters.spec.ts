import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, afterEach } from 'vitest';
import { MemorySemaphoreStore, RedisSemaphoreStore, type SemaphoreStore } from '@fencepost/lease/coordination';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import type { AcquireReply, Holding, StopWatching, Term } from '@fencepost/lease/store';
import { ManualClock } from '@fencepost/lease/testing';
import { ABOVE_THE_CLOCK } from '../support/lease-requests.js';
import { shiftEnds } from './redis-semaphore.js';
import { atMost } from '../support/run-length.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';
import { Pod } from '../support/pod.js';

/** All times are multiples of this, so that what a test takes in reality is lost in rounding. */
const STEP_MS = 500_000;

/** One of the adapters, and how its clock is moved. */
interface Adapter {
  readonly store: SemaphoreStore;
  readonly run: string;
  readonly moveClock: (steps: number) => Promise<void>;
}

/** What is told about time, to the step. */
function rounded<T extends Holding | AcquireReply>(told: T): T {
  return 'remainingMs' in told ? { ...told, remainingMs: Math.round(told.remainingMs / STEP_MS) } : told;
}

function outcome(answer: unknown): string {
  return String(typeof answer === 'object' && answer && 'acquired' in answer ? answer.acquired : answer);
}

async function state({ store, run }: Adapter): Promise<unknown> {
  const names = [`${run}-a`, `${run}-b`];
  const [shown, ...holders] = await Promise.all([store.inspect(names), ...names.map((name) => store.holders(name))]);
  // Of two that end in the same millisecond either may be shown as the next to leave.
  const next = shown.map((holding) => (holding === null ? null : rounded(holding).remainingMs));
  return { next, holders: holders.map((all) => all.map(rounded)) };
}

describe('the Redis semaphore and the one in memory', () => {
  type Command =
    | { readonly do: 'acquire'; readonly term: Term; readonly ttl: number; readonly places: number }
    | { readonly do: 'renew'; readonly terms: readonly Term[]; readonly ttl: number }
    | { readonly do: 'release'; readonly terms: readonly Term[] }
    | { readonly do: 'resize'; readonly resource: string; readonly places: number | null }
    | { readonly do: 'clock moves'; readonly steps: number };

  const resource = fc.constantFrom('a', 'b');

  // Few nonces, so that requests are repeated and terms come back after their end.
  const term = fc.record({ resource, nonce: fc.constantFrom('n1', 'n2', 'n3', 'n4', 'n5') });

  const terms = fc.array(term, { maxLength: 4 });

  const ttl = fc.integer({ min: 1, max: 8 });

  const places = fc.integer({ min: 1, max: 4 });

  const acquire = fc.record({ do: fc.constant('acquire' as const), term, ttl, places });

  const command: fc.Arbitrary<Command> = fc.oneof(
    { weight: 6, arbitrary: acquire },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('renew' as const), terms, ttl }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), terms }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('resize' as const), resource, places: fc.option(places) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('clock moves' as const), steps: fc.integer({ min: -30, max: 8 }) }),
    },
  );

  async function execute({ store, run, moveClock }: Adapter, asked: Command): Promise<unknown> {
    const own = (given: Term): Term => ({ ...given, resource: `${run}-${given.resource}` });
    switch (asked.do) {
      case 'acquire':
        return rounded(
          await store.acquire({
            ...own(asked.term),
            holder: asked.term.nonce,
            ttlMs: asked.ttl * STEP_MS,
            floor: ABOVE_THE_CLOCK,
            places: asked.places,
          }),
        );
      case 'renew':
        return store.renew(asked.terms.map(own), asked.ttl * STEP_MS);
      case 'release':
        return store.release(asked.terms.map(own));
      case 'resize':
        return store.resize(`${run}-${asked.resource}`, asked.places);
      case 'clock moves':
        return moveClock(asked.steps);
    }
  }

  const OUTCOMES = [
    ...['acquire', 'renew', 'release'].flatMap((asked) => [`${asked}: true`, `${asked}: false`]),
    'resize: undefined',
    'clock moves: undefined',
  ];

  const space = { prefix: freshPrefix(), tenant: 'default' };
  const clock = new ManualClock();
  const memory = new MemorySemaphoreStore({ clock });
  const heard: { readonly redis: string[]; readonly memory: string[] } = { redis: [], memory: [] };
  const stops: StopWatching[] = [];
  let redis: Redis;
  let store: RedisSemaphoreStore;

  beforeAll(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
    store = new RedisSemaphoreStore({ redis, ...space });
    stops.push(await store.watchReleases((name) => heard.redis.push(name)));
    stops.push(await memory.watchReleases((name) => heard.memory.push(name)));
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await clearPrefixes(redis, [space.prefix]);
    await closeRedis(redis);
  });

  function adapters(run: string): readonly [Adapter, Adapter] {
    const key = redisKeys(space);
    const shift = async (steps: number) => {
      for (const name of ['a', 'b']) await shiftEnds(redis, key(`${run}-${name}`, 'places'), -steps * STEP_MS);
    };
    return [
      { store, run, moveClock: shift },
      { store: memory, run, moveClock: async (steps) => clock.jumpWall(steps * STEP_MS) },
    ];
  }

  it('give the same answers to the same commands, show the same holders and announce the same', async () => {
    let runs = 0;
    const answered = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40, size: 'max' }), async (commands) => {
        const [real, adapter] = adapters(`run${(runs += 1)}`);
        for (const asked of commands) {
          const answer = await execute(real, asked);
          expect(answer).toEqual(await execute(adapter, asked));
          for (const one of [answer].flat()) answered.add(`${asked.do}: ${outcome(one)}`);
          expect(await state(real)).toEqual(await state(adapter));
        }
      }),
      atMost(60),
    );
    // Messages come in order: when the last one is there, all are.
    for (const each of [store, memory]) await each.resize('last', 1);
    await expect.poll(() => heard.redis).toContain('last');
    expect(heard.redis).toEqual(heard.memory);
    // Or the sequences were too tame to tell the adapters apart.
    expect(answered).toEqual(new Set(OUTCOMES));
    expect(heard.redis.length).toBeGreaterThan(1);
  });
});

const PLACES = 3;

/** Generous: a process that gets no time for so long would be entitled to nothing any more, and still act. */
const TTL_MS = 3_000;

/** What a process did, in the order in which the server heard of it. */
interface Entry {
  readonly atMs: number;
  readonly what: 'acts' | 'stopped';
  readonly holder: string;
  readonly fence: number;
}

/** Who died in a place, and until when by the server's clock it is entitled to it: a fence is the time of its grant. */
interface Dead {
  readonly fence: number;
  readonly untilMs: number;
}

/** How many acted at once, entry by entry. Who died acts until its term is over. */
function actingAt(log: readonly Entry[], dead: Dead): { readonly atMs: number; readonly acting: number }[] {
  const acting = new Set<number>();
  return log.map(({ atMs, what, fence }) => {
    if (atMs >= dead.untilMs) acting.delete(dead.fence);
    if (what === 'acts') acting.add(fence);
    else acting.delete(fence);
    return { atMs, acting: acting.size };
  });
}

describe('a semaphore of six processes', { timeout: 60_000 }, () => {
  const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
  const PROGRAM = fileURLToPath(new URL('../programs/semaphore-holder.ts', import.meta.url));

  const prefix = freshPrefix();
  let redis: Redis;
  let started: Pod[];

  beforeAll(() => {
    redis = new Redis(testRedis());
    started = [];
  });
  afterEach(async ({ task }) => {
    await Promise.all(started.filter(({ isAlive }) => isAlive).map((pod) => pod.kill()));
    if (task.result?.state === 'fail') for (const pod of started) console.error(`${pod.name}:\n${pod.lastLines()}`);
  });
  afterAll(async () => {
    await clearPrefixes(redis, [prefix]);
    await closeRedis(redis);
  });

  function start(holder: string, env: Record<string, string> = {}): Pod {
    const all = { HOLDER: holder, PREFIX: prefix, PLACES: `${PLACES}`, TTL: `${TTL_MS}`, ...env };
    const pod = new Pod({ name: holder, args: [RUNNER, PROGRAM], env: all });
    started.push(pod);
    return pod;
  }

  async function log(): Promise<Entry[]> {
    const entries = await redis.xrange(`${prefix}:log`, '-', '+');
    return entries.map(([id, [, what, , holder = '', , fence]]) => ({
      atMs: Number(id.split('-')[0]),
      what: what as Entry['what'],
      holder,
      fence: Number(fence),
    }));
  }

  it('never has more than three at once, and fills the place of one that was killed when its ttl is over', async () => {
    const others = ['a', 'b', 'c', 'd', 'e'].map((holder) => start(holder));
    const victim = start('victim', { DIES: 'at once' });
    expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' });

    const fence = (await log()).find(({ holder }) => holder === 'victim')?.fence ?? 0;
    const dead = { fence, untilMs: Math.floor(fence / 1_000) + TTL_MS };
    const after = async () => actingAt(await log(), dead).filter(({ atMs }) => atMs >= dead.untilMs);
    await expect
      .poll(async () => Math.max(...(await after()).map(({ acting }) => acting)), { timeout: 20_000 })
      .toBe(PLACES);
    await expect.poll(async () => (await after()).length, { timeout: 20_000 }).toBeGreaterThan(200);

    const exits = await Promise.all(others.map((pod) => pod.terminate()));
    expect(exits.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    const all = await log();
    expect(new Set(all.map(({ holder }) => holder)).size).toBe(6);
    expect(Math.max(...actingAt(all, dead).map(({ acting }) => acting))).toBe(PLACES);
    // A fence for each time that somebody acted, and none twice.
    const fences = all.filter(({ what }) => what === 'acts').map((entry) => entry.fence);
    expect(new Set(fences).size).toBe(fences.length);
    expect(await new RedisSemaphoreStore({ redis, prefix, tenant: 'default' }).holders('r')).toEqual([]);
  });
});
