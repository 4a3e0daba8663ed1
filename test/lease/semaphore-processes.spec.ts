import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, afterEach } from 'vitest';
import { RedisSemaphoreStore } from '@fencepost/lease/coordination';
import { closeRedis } from '@fencepost/lease/redis';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';
import { Pod } from '../support/pod.js';

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
