import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RedisLeaseStore, closeRedis } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';
import { Pod } from '../support/pod.js';
import type { LogLine } from '../support/pod.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../programs/counter.ts', import.meta.url));
const LONG = { timeout: 120_000 };

let redis: Redis;
let prefix: string;
let started: Pod[];

beforeAll(() => {
  redis = new Redis(testRedis());
});
afterAll(() => closeRedis(redis));
beforeEach(() => {
  prefix = freshPrefix();
  started = [];
});
afterEach(async ({ task }) => {
  await Promise.all(started.filter(({ isAlive }) => isAlive).map((pod) => pod.kill()));
  if (task.result?.state === 'fail') for (const pod of started) console.error(`${pod.name}:\n${pod.lastLines()}`);
  await clearPrefixes(redis, [prefix]);
});

function start(name: string, env: Record<string, string>): Pod {
  const pod = new Pod({ name, args: [RUNNER, PROGRAM], env: { PREFIX: prefix, REDIS_URL: testRedis(), ...env } });
  started.push(pod);
  return pod;
}

const plain = async () => Number(await redis.get(`${prefix}:plain`));
const fences = async () => (await redis.lrange(`${prefix}:fences`, 0, -1)).map(Number);
const fenced = async () =>
  Number((await new RedisFencedValues({ redis, prefix, tenant: 'default' }).get('counter'))?.value);
const ended = (pod: Pod): Promise<LogLine> => pod.waitFor('done', () => true, 90_000);

describe('processes that add to a counter nothing else protects', () => {
  it('lose no addition while each of them holds the lease, and their fences only grow', LONG, async () => {
    const pods = Array.from({ length: 5 }, (_, n) => start(`adder ${n}`, { ROUNDS: '30' }));
    const tallies = await Promise.all(pods.map(ended));
    expect(tallies).toEqual(Array(5).fill(expect.objectContaining({ accepted: 30, refused: 0, lost: 0 })));
    expect(await plain()).toBe(150);
    expect(await fenced()).toBe(150);
    const seen = await fences();
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).toBe(150);
  });

  it('lose one where a frozen holder writes late, but not at the sink that compares fences', LONG, async () => {
    const frozen = start('frozen', { ROUNDS: '1', PAUSE_IN: '0', TTL: '1s' });
    await frozen.waitFor('between');
    frozen.freeze();
    const store = new RedisLeaseStore({ redis, prefix, tenant: 'default' });
    await expect.poll(() => store.inspect(['counter']), { interval: 20, timeout: 20_000 }).toEqual([null]);
    const next = start('next', { ROUNDS: '10' });
    expect(await ended(next)).toMatchObject({ accepted: 10, refused: 0 });
    frozen.thaw();
    expect(await ended(frozen)).toMatchObject({ accepted: 0, refused: 1, lost: 1 });
    // What was counted is gone where nobody compared: this is what a lease alone does not prevent.
    expect(await plain()).toBe(1);
    expect(await fenced()).toBe(10);
  });
});
