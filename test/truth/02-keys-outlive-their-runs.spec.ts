import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { Pool } from 'pg';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { migrateLedger, PostgresLedger } from '@fencepost/ledger/postgres';
import { RedisLedger } from '@fencepost/ledger/redis';
import type { Ledger } from '@fencepost/ledger';
import { Jobs } from '@fencepost/jobs';
import { OperatingStage } from '../support/operating-stage.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

const KEEP_RUNS = 20;
const prefix = freshPrefix();
const schema = freshSchema();
const space = { prefix, tenant: 'default' };

let redis: RedisClient;
let postgres: TestPostgres;
let pool: Pool;

beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name: 'truth' });
  postgres = await postgresForTests();
  pool = new Pool({ connectionString: postgres.url, max: 4 });
  await migrateLedger(pool, { schema });
});
afterAll(async () => {
  await clearPrefixes(redis, [prefix]);
  await closeRedis(redis);
  await pool.query(`drop schema "${schema}" cascade`);
  await pool.end();
});

const LEDGERS: Readonly<Record<string, (stage: OperatingStage) => Ledger>> = {
  Redis: () => new RedisLedger({ redis, ...space }),
  PostgreSQL: () => new PostgresLedger({ pool, schema, ...space }),
  memory: ({ clock }) => new MemoryLedger(clock),
};

/** A job over this ledger, and what carries its runs out and sweeps after it. */
async function invoices(makeLedger: (stage: OperatingStage) => Ledger) {
  const stage = new OperatingStage();
  await stage.declare({}, { name: 'send-invoice', expression: '@manual', overlap: 'allow' });
  const ledger = makeLedger(stage);
  const { catalog, queue, membership, clock } = stage;
  const jobs = new Jobs({ catalog, queue, membership, clock, ledger });
  const send = async (order: string, keyTtl?: string) => {
    const given = { idempotencyKey: order, ...(keyTtl === undefined ? {} : { keyTtl }) };
    const enqueued = await jobs.enqueue('send-invoice', { order }, given);
    if (!enqueued.created) return enqueued;
    const { runId } = enqueued;
    const nonce = `begin ${runId}`;
    const begun = await ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
    if (begun.verdict === 'begun') await ledger.finish({ runId, nonce, fence: begun.fence }, { kind: 'succeeded' });
    await ledger.forgetAll(['send-invoice'], KEEP_RUNS);
    return enqueued;
  };
  return { jobs, ledger, send };
}

describe.each(Object.entries(LEDGERS))('an idempotency key over a ledger in %s', (_name, makeLedger) => {
  it('is honoured after more runs than the ledger keeps: the second call is told that it was done', async () => {
    const { ledger, send } = await invoices(makeLedger);
    expect(await send('order42')).toEqual({ runId: 'send-invoice@order42', created: true });
    expect(await send('order42')).toEqual({ runId: 'send-invoice@order42', created: false });
    for (let n = 0; n < KEEP_RUNS; n += 1) await send(`other${n}`);
    expect(await ledger.readRun('send-invoice@order42')).toBeNull();
    expect(await send('order42')).toEqual({ runId: 'send-invoice@order42', created: false, alreadyDone: true });
    expect(await ledger.countKeys('send-invoice')).toBe(KEEP_RUNS + 1);
  });
});

describe('the life of an idempotency key', () => {
  it.each([
    ['30s', "Expected keyTtl to be a duration from '1m' to '400d', got '30s'."],
    ['401d', "Expected keyTtl to be a duration from '1m' to '400d', got '401d'."],
    ['soon', "Expected keyTtl to be a duration such as '5m', or whole milliseconds, got 'soon'."],
  ])('has a shortest and a longest: %s is refused', async (keyTtl, sentence) => {
    const { send } = await invoices((stage) => stage.ledger);
    await expect(send('order43', keyTtl)).rejects.toThrow(sentence);
  });

  it('is refused without a key', async () => {
    const { jobs } = await invoices((stage) => stage.ledger);
    await expect(jobs.enqueue('send-invoice', null, { keyTtl: '7d' })).rejects.toThrow(
      'Expected keyTtl to be left out',
    );
  });
});
