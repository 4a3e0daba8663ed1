import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, LEDGER, Telemetry, JobHandler, Jobs, type Role } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { IdempotencyKeyError } from '@fencepost/jobs/errors';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { recordedEvents } from '../support/recorded-events.js';
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
  await postgres.stop();
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

  it('was never asked for when that is rolled back, whatever it was rolled back for', async () => {
    const app = await start();
    const jobs = app.get(Jobs);
    await inTransaction(async (tx) => void (await order(tx, 'b-1')));
    const twice = inTransaction(async (tx) => {
      await jobs.enqueueIn(tx, 'confirm-order', 'b-1', { idempotencyKey: 'b-1' });
      await order(tx, 'b-1');
    });
    await expect(twice).rejects.toThrow('duplicate key');
    await inTransaction(async (tx) => void (await jobs.enqueueIn(tx, 'confirm-order', 'b-2')));
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['b-2']);
    expect((await runsOf(app)).map(({ payload }) => payload)).toEqual(['"b-2"']);
  });

  it('runs although nobody was there to hear of the commit', async () => {
    const space = spaces.fresh();
    const writer = await start(['worker'], space);
    await inTransaction(async (tx) => void (await writer.get(Jobs).enqueueIn(tx, 'confirm-order', 'c-1')));
    await apps.pop()?.close();
    const app = await start(['scheduler', 'worker'], space);
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['c-1']);
  });

  it('is one run for one key, and refused with another payload, within a transaction and after it', async () => {
    const app = await start();
    const jobs = app.get(Jobs);
    const key = { idempotencyKey: 'd-1' };
    await inTransaction(async (tx) => {
      expect(await jobs.enqueueIn(tx, 'confirm-order', { id: 1 }, key)).toMatchObject({ created: true });
      expect(await jobs.enqueueIn(tx, 'confirm-order', { id: 1 }, key)).toMatchObject({ created: false });
      await expect(jobs.enqueueIn(tx, 'confirm-order', { id: 2 }, key)).rejects.toThrow(IdempotencyKeyError);
    });
    expect(await jobs.enqueue('confirm-order', { id: 1 }, key)).toMatchObject({ created: false });
    await expect(jobs.enqueue('confirm-order', { id: 2 }, key)).rejects.toThrow(IdempotencyKeyError);
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual([{ id: 1 }]);
  });

  it('waits for its time, and keeps its priority', async () => {
    const app = await start();
    const events = recordedEvents(app.get(Telemetry));
    const options = { delay: '300ms', priority: 5 };
    await inTransaction(async (tx) => void (await app.get(Jobs).enqueueIn(tx, 'confirm-order', 'e-1', options)));
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['e-1']);
    const [run] = await runsOf(app);
    expect(run?.priority).toBe(5);
    expect(run?.startedAt).toBeGreaterThanOrEqual(run?.dueAt ?? Infinity);
    expect(run?.dueAt).toBeGreaterThanOrEqual((run?.claimedAt ?? 0) + 200);
    expect(events.of('run.enqueued')).toMatchObject([{ delivery: 1, priority: 5 }]);
  });

  it('holds up no other run of its job while the transaction is open', async () => {
    const app = await start();
    const jobs = app.get(Jobs);
    await jobs.enqueue('confirm-order', 'f-0');
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['f-0']);
    await inTransaction(async (tx) => {
      await jobs.enqueueIn(tx, 'confirm-order', 'f-1');
      await jobs.enqueue('confirm-order', 'f-2');
      await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['f-0', 'f-2']);
    });
    await expect.poll(() => app.get(Mails).sent, WAIT).toEqual(['f-0', 'f-2', 'f-1']);
  });
});
