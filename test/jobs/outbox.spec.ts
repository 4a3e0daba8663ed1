import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, LEDGER, JobHandler, Jobs, type Role } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const schema = freshSchema();
const apps: INestApplicationContext[] = [];
let postgres: TestPostgres;
let pool: Pool;
beforeAll(async () => {
  postgres = await postgresForTests();
  pool = new Pool({ connectionString: postgres.url });
  await pool.query(`create schema "${schema}"`);
  await pool.query(`create table "${schema}".orders (id text primary key)`);
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});
afterAll(async () => {
  await pool.query(`drop schema "${schema}" cascade`);
  await pool.end();
});

@Injectable()
class Mails {
  readonly sent: unknown[] = [];

  @JobHandler('confirm-order')
  confirm(run: { readonly payload: unknown }): void {
    this.sent.push(run.payload);
  }
}

async function start(roles: readonly Role[] = ['scheduler', 'worker'], space = spaces.fresh()) {
  const stores = { redis: testRedis(), ...space, ledger: 'postgres' as const };
  const jobs = JobsModule.forRoot({
    ...{ ...stores, roles, sweepEvery: '500ms', drainDeadline: '2s' },
    postgres: { url: postgres.url, schema, migrate: true },
  });
  const app = await Test.createTestingModule({ imports: [jobs], providers: [Mails] }).compile();
  apps.push(app);
  return app.init();
}

/** A shop: what it does in one transaction. */
async function inTransaction(work: (tx: PoolClient) => Promise<void>): Promise<void> {
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    await work(tx);
    await tx.query('commit');
  } catch (error) {
    await tx.query('rollback');
    throw error;
  } finally {
    tx.release();
  }
}

const order = (tx: PoolClient, id: string) => tx.query(`insert into "${schema}".orders values ($1)`, [id]);
const runsOf = (app: INestApplicationContext) => app.get<Ledger>(LEDGER).runs('confirm-order', 100);
const WAIT = { timeout: 15_000 };

describe('a job that is enqueued on a transaction', () => {
  it('runs once that has committed, and not before', async () => {
    const app = await start();
    const { sent } = app.get(Mails);
    await inTransaction(async (tx) => {
      await order(tx, 'a-1');
      const enqueued = await app.get(Jobs).enqueueIn(tx, 'confirm-order', 'a-1', { idempotencyKey: 'a-1' });
      expect(enqueued).toEqual({ runId: 'confirm-order@a-1', created: true });
      expect(await runsOf(app)).toEqual([]);
    });
    await expect.poll(() => sent, WAIT).toEqual(['a-1']);
    await expect.poll(() => runsOf(app), WAIT).toMatchObject([{ id: 'confirm-order@a-1', state: 'succeeded' }]);
  });

  it('runs although nobody was there to hear of the commit', async () => {
    const space = spaces.fresh();
    const writer = await start(['worker'], space);
    await inTransaction(async (tx) => void (await writer.get(Jobs).enqueueIn(tx, 'confirm-order', 'c-1')));
    await apps.pop()?.close();
    const app = await start(['scheduler', 'worker'], space);
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['c-1']);
  });
});
