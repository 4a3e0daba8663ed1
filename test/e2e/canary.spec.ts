import { connectRedis, closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLedger } from '@fencepost/ledger/postgres';
import { ensureBuilt } from '../../scripts/build.mjs';
import type { Pod } from '../support/pod.js';
import { usePods } from '../support/pods.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const LONG = { timeout: 120_000 };
const CANARY = 'kAnaryOfTheMine73';
const WHSEC = `whsec_${Buffer.from(CANARY.repeat(2)).toString('base64')}`;
/** As it would look in a text, and encoded as a secret has it. */
const TRACES = [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString('base64url'), WHSEC.slice(6)];

let redis: PrivateRedis;
let postgres: TestPostgres;
beforeAll(async () => {
  await ensureBuilt({ pods: true });
  [redis, postgres] = await Promise.all([privateRedis({ requirepass: CANARY }), postgresForTests()]);
}, 600_000);
afterAll(async () => {
  await redis?.stop();
});

const pods = usePods();

function environment(schema: string): Record<string, string> {
  const database = new URL(postgres.url);
  database.password = CANARY;
  return {
    REDIS_URL: `redis://:${CANARY}@127.0.0.1:${redis.port}`,
    ...{
      FENCEPOST_LEDGER: 'postgres',
      DATABASE_URL: database.href,
      FENCEPOST_SCHEMA: schema,
      FENCEPOST_MIGRATE: 'true',
    },
    ...{ FENCEPOST_LEASE_TTL: '1s', FENCEPOST_RUN_LEASE: '1500ms', FENCEPOST_SWEEP_EVERY: '200ms' },
    ...{ FENCEPOST_APP: 'test-worker', LOG_LEVEL: 'trace', CRONS: 'canary', CANARY },
    FENCEPOST_WEBHOOKS: JSON.stringify([
      { url: `http://127.0.0.1:1/${CANARY}?key=${CANARY}`, secret: WHSEC, events: ['run.failed', 'alarm.raised'] },
    ]),
    FENCEPOST_ALLOW_HOSTS: '127.0.0.1',
    FENCEPOST_METRICS_OPEN: 'true',
  };
}

/** What somebody who holds a secret asks a pod, and what it answers. */
async function asked(pod: Pod): Promise<string[]> {
  const base = pod.lines.flatMap(({ msg }) => / listens on (\S+)/.exec(msg ?? '')?.[1] ?? [])[0] ?? '';
  const headers = {
    authorization: `Bearer ${CANARY}`,
    cookie: `session=${CANARY}`,
    'content-type': 'application/json',
  };
  const asking = [
    ['GET', `/nothing-here?token=${CANARY}`],
    ['GET', '/metrics'],
    ['GET', '/health/ready'],
    ['GET', '/crons/api/crons/none?at=1'],
    ['GET', '/crons/api/runs/none'],
    ['POST', '/crons/session'],
    ['POST', '/crons/api/crons/canary/trigger'],
    ['POST', '/operate/trigger/none'],
  ] as const;
  const answers = asking.map(async ([method, path]) => {
    const body = method === 'POST' ? { body: `{"token":"${CANARY}", "reason": ` } : {};
    const answer = await fetch(`${base}${path}`, { method, headers, ...body }).catch(() => null);
    return `${method} ${path.split('?')[0]} ${answer?.status}: ${await answer?.text()}`;
  });
  return Promise.all(answers);
}

/** Job logs, what jobs failed with, and every stream: what the pages and the board show of the past. */
async function kept(client: RedisClient): Promise<string[]> {
  const found: string[] = [];
  for (const key of await client.keys('*')) {
    const type = await client.type(key);
    if (key.endsWith(':logs')) found.push(...(await client.lrange(key, 0, -1)));
    if (type === 'stream') found.push(JSON.stringify(await client.xrange(key, '-', '+')));
    if (type === 'hash' && key.includes(':runs:')) {
      const { failedReason = '', stacktrace = '', progress = '' } = await client.hgetall(key);
      found.push(failedReason, stacktrace, progress);
    }
    if (type === 'hash' && key.includes(':alarms')) found.push(JSON.stringify(await client.hgetall(key)));
  }
  return found;
}

async function errorsIn(pool: Pool, schema: string): Promise<string[]> {
  const ledger = new PostgresLedger({ pool, schema, prefix: 'fencepost', tenant: 'default' });
  const runs = await ledger.runs('canary', 1_000);
  return runs.flatMap(({ error }) => (error === null ? [] : [error]));
}

function leaks(all: readonly string[]): string[] {
  return all
    .filter((text) => TRACES.some((trace) => text.includes(trace)))
    .map((text) => {
      const at = Math.min(...TRACES.map((trace) => text.indexOf(trace)).filter((index) => index >= 0));
      return text.slice(Math.max(0, at - 120), at + 60);
    });
}

describe('pods that hold secrets', () => {
  it('show none of them in anything they say or keep, whatever goes wrong', LONG, async () => {
    const schema = freshSchema();
    Object.assign(pods.env, environment(schema));
    const pool = new Pool({ connectionString: postgres.url });
    const client = await connectRedis({
      url: `redis://:${CANARY}@127.0.0.1:${redis.port}`,
      commandTimeoutMs: 5_000,
      name: 'test',
    });
    try {
      const [s1, s2] = [await pods.scheduler('s1'), await pods.scheduler('s2')];
      const [w1, w2] = [await pods.worker('w1'), await pods.worker('w2')];
      await w1.waitFor('attempt_failed');
      await s1.waitFor('webhook_failed').catch(() => s2.waitFor('webhook_failed'));
      const answers = (await Promise.all([s1, s2, w1, w2].map(asked))).flat();
      await w1.kill();
      await s1.kill();
      redis.freeze();
      await Promise.race([s2.waitFor('store_failed'), w2.waitFor('store_failed')]);
      redis.thaw();
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'fencepost%'`,
      );
      const failures = w2.eventsOf('attempt_failed').length;
      await until('runs fail again', async () => w2.eventsOf('attempt_failed').length > failures + 3);
      const wrong = pods.spawnScheduler('refused', {
        env: { REDIS_URL: `redis://:${CANARY}-wrong@127.0.0.1:${redis.port}` },
      });
      const bad = pods.spawnWorker('bad', { env: { FENCEPOST_WEBHOOKS: `[{"url":"x","secret":"${CANARY}"}]` } });
      await Promise.all([wrong.exited, bad.exited]);
      const [past, errors] = [await kept(client), await errorsIn(pool, schema)];
      await pods.terminateAll();
      const said = [s1, s2, w1, w2, wrong, bad].flatMap(({ lines, stderr }) => [
        ...lines.map((line) => JSON.stringify(line)),
        ...stderr.split('\n'),
      ]);
      // A test that looked at nothing would find nothing.
      expect([said.length > 100, past.length > 10, errors.length > 0]).toEqual([true, true, true]);
      expect(past.some((line) => line.includes('***'))).toBe(true);
      expect(leaks([...said, ...answers, ...past, ...errors])).toEqual([]);
    } finally {
      await closeRedis(client);
      await pool.query(`drop schema if exists "${schema}" cascade`);
      await pool.end();
    }
  });
});
