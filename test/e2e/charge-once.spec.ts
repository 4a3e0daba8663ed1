import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Pod } from '../support/pod.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { isLong } from '../support/run-length.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../examples/charge-once.ts', import.meta.url));
const KILLS = isLong ? 6 : 3;

/** Each start reads all of the sources, and only a test that fails waits for so long. */
const PATIENCE_MS = 120_000;
const ALL_OF_IT_MS = 600_000;

/** What it says in this order: the kills come after one of these, and a moment. */
const LINES = /^(Here is|Order 42|Attempt|Charged)/;

let postgres: TestPostgres;
let redis: Redis;
const prefixes: string[] = [];
const started: Pod[] = [];

beforeAll(async () => {
  postgres = await postgresForTests();
  redis = new Redis(testRedis());
});
afterAll(async () => {
  await Promise.all(started.filter(({ isAlive }) => isAlive).map((pod) => pod.kill()));
  for (const prefix of prefixes) {
    const keys = await redis.keys(`*${prefix}*`);
    if (keys.length > 0) await redis.del(keys);
  }
  await redis.quit();
});

function start(name: string, env: Record<string, string>): Pod {
  const pod = new Pod({ name, args: [RUNNER, PROGRAM], env: { REDIS_URL: testRedis(), STEP_MS: '100', ...env } });
  started.push(pod);
  return pod;
}

/** Numbers in [0, 1), the same ones each time: a linear congruence is as good as any for choosing moments. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

async function lineNumber(pod: Pod, wanted: number): Promise<void> {
  const said = () => pod.lines.filter(({ msg }) => msg !== undefined && LINES.test(msg)).length;
  const heard = () => said() >= wanted || !pod.isAlive;
  await expect.poll(heard, { interval: 5, timeout: PATIENCE_MS }).toBe(true);
}

async function killed(env: Record<string, string>): Promise<void> {
  const random = seeded(42);
  for (let n = 1; n <= KILLS; n += 1) {
    const pod = start(`killed-${n}`, env);
    await lineNumber(pod, 1 + Math.floor(random() * 4));
    await new Promise((resolve) => setTimeout(resolve, random() * 100));
    await pod.kill();
  }
}

async function balance(env: Record<string, string>): Promise<string | undefined> {
  const pod = start('last', env);
  expect(await pod.exited).toMatchObject({ code: 0 });
  return pod.lines.at(-1)?.msg;
}

describe.concurrent('the documented charge', () => {
  it(
    'is made once over the Redis ledger, however often its process is killed',
    async () => {
      const prefix = freshPrefix();
      prefixes.push(prefix);
      const env = { PREFIX: prefix, DATABASE_URL: '' };
      await killed(env);
      expect(await balance(env)).toBe('The balance is 958.');
      expect(await redis.hvals(`${prefix}:charges:alice`)).toEqual(['42']);
    },
    ALL_OF_IT_MS,
  );

  it(
    'is made once over the PostgreSQL ledger, to a bank that knows no idempotency keys',
    async () => {
      const prefix = freshPrefix();
      prefixes.push(prefix);
      const env = { PREFIX: prefix, DATABASE_URL: postgres.url };
      await killed(env);
      expect(await balance(env)).toBe('The balance is 958.');
      const pool = new Pool({ connectionString: postgres.url });
      await pool.query(`drop schema ${prefix.replaceAll(/\W/g, '_')} cascade`);
      await pool.end();
    },
    ALL_OF_IT_MS,
  );
});
