import { systemClock } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { migrateLedger, readPostgresFacts } from '@fencepost/ledger/postgres';
import { readRedisFacts } from '@fencepost/operations/internal';
import { Queue } from 'bullmq';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { queuePrefix } from '@fencepost/jobs/internal';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { freshPrefix, privateRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

describe('what Redis says for an examination', () => {
  it('is how it is set, and that nothing has changed', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const facts = await readRedisFacts({ redis, clock: systemClock, ...space });
    expect(facts).toMatchObject({
      changes: [],
      late: [],
      queues: [{ queue: 'runs', isPaused: false, concurrency: null, rate: null, waiting: 0 }],
    });
    expect(facts.servers).toMatchObject([{ role: 'master', evictionPolicy: 'noeviction' }]);
    expect(await readRedisFacts({ redis, clock: systemClock, ...space })).toMatchObject({ changes: [] });
  });

  it('is what a person has set on the queue', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const queue = new Queue('runs', { connection: redis, prefix: queuePrefix(space) });
    onTestFinished(() => queue.close());
    const limits = async () => (await readRedisFacts({ redis, clock: systemClock, ...space })).queues;
    await queue.pause();
    await queue.setGlobalConcurrency(3);
    await queue.setGlobalRateLimit(5, 20_000);
    await queue.addBulk([
      { name: 'one', data: {} },
      { name: 'other', data: {}, opts: { priority: 1 } },
    ]);
    const known = { queue: 'runs', waiting: 2, pausedUnlike: null };
    expect(await limits()).toEqual([
      { ...known, isPaused: true, concurrency: 3, rate: { max: 5, durationMs: 20_000 } },
    ]);
    await queue.resume();
    await queue.removeGlobalConcurrency();
    await queue.removeGlobalRateLimit();
    expect(await limits()).toEqual([{ ...known, isPaused: false, concurrency: null, rate: null }]);
  });

  it('is which crons are overdue, and not which ones somebody only asked to look at', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const now = Number((await redis.time())[0]) * 1_000;
    const due = redisKeys(space)('catalog', 'due');
    await redis.zadd(due, now - 60_000, 'late', now - 120_000, 'later', 0, 'nudged', now + 60_000, 'ahead');
    const { late } = await readRedisFacts({ redis, clock: systemClock, ...space });
    expect(late.map(({ cron }) => cron)).toEqual(['later', 'late']);
    expect(late[1]?.overdueMs).toBeGreaterThanOrEqual(60_000);
  });

  it('is that another process answers than at the examination before, until a month later', async () => {
    const server = await privateRedis({ save: '3600 1' });
    onTestFinished(() => server.stop());
    const redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
    onTestFinished(() => closeRedis(redis));
    const space = { redis, clock: systemClock, prefix: freshPrefix(), tenant: 'default' };
    await readRedisFacts(space);
    const key = redisKeys(space)('catalog', 'examined');
    const [[address, seen]] = Object.entries(await redis.hgetall(key)) as [[string, string]];
    // What was noted of the process before: a restart without a file loses the note too.
    const before = { history: { ...JSON.parse(seen).history, runId: 'another' }, changes: [] };
    await redis.hset(key, address, JSON.stringify(before));
    const { changes } = await readRedisFacts(space);
    expect(changes).toMatchObject([{ code: 'HISTORY_LOST', address }]);
    expect((await readRedisFacts(space)).changes).toEqual(changes);
    const old = JSON.parse((await redis.hget(key, address)) ?? '') as { changes: object[] };
    await redis.hset(key, address, JSON.stringify({ ...old, changes: [{ ...old.changes[0], at: 1 }] }));
    expect((await readRedisFacts(space)).changes).toEqual([]);
  });

  it('is read although somebody has spoiled what was noted', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    await redis.hset(redisKeys(space)('catalog', 'examined'), 'x', 'no JSON');
    expect((await readRedisFacts({ redis, clock: systemClock, ...space })).changes).toEqual([]);
  });
});

describe('what PostgreSQL says for an examination', () => {
  let server: TestPostgres;
  let pool: Pool;
  beforeAll(async () => {
    server = await postgresForTests();
    pool = new Pool({ connectionString: server.url });
  });
  afterAll(async () => {
    await pool.end();
  });

  it('is that there are no tables, and then that all is as it should be', async () => {
    const schema = freshSchema();
    expect(await readPostgresFacts(pool, { schema })).toMatchObject({ schema, version: 0, functionsFit: false });
    await migrateLedger(pool, { schema });
    const facts = await readPostgresFacts(pool, { schema });
    expect(facts).toMatchObject({ version: facts.expectedVersion, functionsFit: true, missing: [] });
    const ofCommits = ['fsync', 'full_page_writes', 'synchronous_commit'];
    const ofStandbys = ['fencepost.asynchronous_standby', 'standbys', 'synchronous_standby_names'];
    expect(Object.keys(facts.settings).toSorted()).toEqual([...ofCommits, ...ofStandbys].toSorted());
    const clock = `select oid::regprocedure::text as name from pg_proc where pronamespace = $1::regnamespace and proname like 'now_ms%'`;
    const { rows } = await pool.query<{ name: string }>(clock, [schema]);
    await pool.query(`drop function ${rows[0]?.name}`);
    expect(await readPostgresFacts(pool, { schema })).toMatchObject({ functionsFit: false });
  });

  it('is what a role may not do, at the schema and then at its tables', async () => {
    const schema = freshSchema();
    const role = `"${schema}_role"`;
    await migrateLedger(pool, { schema });
    await pool.query(`create role ${role}`);
    const client = await pool.connect();
    onTestFinished(async () => {
      await client.query(`reset role; drop owned by ${role}; drop role ${role}`);
      client.release();
    });
    await client.query(`set role ${role}`);
    const facts = await readPostgresFacts(client, { schema });
    expect(facts).toMatchObject({ version: null, functionsFit: true });
    expect(facts.missing).toContain(`USAGE on ${schema}`);
    await client.query('reset role');
    await client.query(`grant usage on schema "${schema}" to ${role}`);
    await client.query(`grant select on all tables in schema "${schema}" to ${role}`);
    await client.query(`grant insert, update, delete on "${schema}".cron to ${role}`);
    await client.query(`set role ${role}`);
    const later = await readPostgresFacts(client, { schema });
    expect(later.version).toBe(later.expectedVersion);
    expect(later.missing).toContain('UPDATE on run');
    expect(later.missing.join()).not.toMatch(/on cron|SELECT/);
  });
});
