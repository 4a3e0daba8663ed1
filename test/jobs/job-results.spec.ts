import { Injectable } from '@nestjs/common';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, JobHandler, Jobs, LEDGER, type Role, type RunContext } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { Pool } from 'pg';
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
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});
afterAll(async () => {
  await pool.query(`drop schema if exists "${schema}" cascade`);
  await pool.end();
});

/** Stands until a test lets it go on. */
class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

@Injectable()
class Sums {
  readonly gate = new Gate();

  @JobHandler('add', { retry: { attempts: 3, delay: '10ms' } })
  add({ payload, attempt }: RunContext): unknown {
    const [first = 0, second = 0] = payload as readonly number[];
    if (first < 0 && attempt === 1) throw new Error('once more');
    return { sum: first + second, attempt };
  }

  @JobHandler('count', { retry: { attempts: 3, delay: '10ms' } })
  async count(run: RunContext): Promise<unknown> {
    const before = (await run.previous())?.result as { readonly count: number } | undefined;
    if (run.payload === 'again' && run.attempt === 1) throw new Error('once more');
    return { count: (before?.count ?? 0) + 1, attempt: run.attempt };
  }

  @JobHandler('large')
  large(): string {
    return 'x'.repeat(20_000);
  }

  @JobHandler('broken', { retry: { attempts: 1 } })
  broken(): never {
    throw new Error('no such customer');
  }

  @JobHandler('slow')
  async slow(): Promise<string> {
    await this.gate.opened;
    return 'at last';
  }
}

type Space = ReturnType<typeof spaces.fresh>;
type LedgerKind = 'redis' | 'postgres';

describe.each<LedgerKind>(['redis', 'postgres'])('the result of a job, with the ledger in %s', (ledger) => {
  async function start(space: Space, roles: readonly Role[], providers: readonly Provider[] = []) {
    const database = ledger === 'postgres' ? { postgres: { url: postgres.url, schema, migrate: true } } : {};
    const options = { redis: testRedis(), ...space, ledger, ...database, app: 'office', drainDeadline: '2s' };
    const jobs = JobsModule.forRoot({ ...options, roles, sweepEvery: '500ms' });
    const app = await Test.createTestingModule({ imports: [jobs], providers: [...providers] }).compile();
    apps.push(app);
    return app.init();
  }

  /** A worker, and a process of its own that enqueues. */
  async function office() {
    const space = spaces.fresh();
    const worker = await start(space, ['worker'], [Sums]);
    const asking = await start(space, ['scheduler']);
    return { worker, asking, jobs: asking.get(Jobs) };
  }

  it('reaches the process that enqueued it, also after a retry', async () => {
    const { jobs, asking } = await office();
    const run = await jobs.enqueue('add', [1, 2]);
    expect(await run.result()).toEqual({ sum: 3, attempt: 1 });
    expect((await asking.get<Ledger>(LEDGER).readRun(run.runId))?.result).toBe('{"sum":3,"attempt":1}');
    const retried = await jobs.enqueueMany('add', [{ payload: [-1, 1] }, { payload: [2, 2] }]);
    expect(await Promise.all(retried.map((one) => one.result()))).toEqual([
      { sum: 0, attempt: 2 },
      { sum: 4, attempt: 1 },
    ]);
  });

  it('is waited for by whoever asks with the same idempotency key', async () => {
    const { worker, jobs } = await office();
    const [first, second] = [
      await jobs.enqueue('slow', null, { idempotencyKey: 'order-1' }),
      await worker.get(Jobs).enqueue('slow', null, { idempotencyKey: 'order-1' }),
    ];
    await expect(first.result({ timeout: '100ms' })).rejects.toMatchObject({ code: 'RESULT_TIMEOUT' });
    worker.get(Sums).gate.open();
    expect(await Promise.all([first.result(), second.result()])).toEqual(['at last', 'at last']);
  });

  it('is null where the handler returned 20,000 bytes, and the run has succeeded', async () => {
    const { jobs, asking } = await office();
    const run = await jobs.enqueue('large');
    expect(await run.result()).toBeNull();
    expect(await asking.get<Ledger>(LEDGER).readRun(run.runId)).toMatchObject({ state: 'succeeded', attempt: 1 });
  });

  it('is an error where the run has failed', async () => {
    const { jobs } = await office();
    const run = await jobs.enqueue('broken');
    await expect(run.result()).rejects.toMatchObject({
      code: 'RUN_FAILED',
      message: expect.stringContaining('no such customer'),
    });
  });

  it('is found by the next run, in each of its attempts', async () => {
    const { jobs } = await office();
    expect(await (await jobs.enqueue('count')).result()).toEqual({ count: 1, attempt: 1 });
    expect(await (await jobs.enqueue('count', 'again')).result()).toEqual({ count: 2, attempt: 2 });
    expect(await (await jobs.enqueue('count')).result()).toEqual({ count: 3, attempt: 1 });
  });

  it.runIf(ledger === 'postgres')('can be waited for once its transaction has committed', async () => {
    const { jobs } = await office();
    const tx = await pool.connect();
    try {
      await tx.query('begin');
      const run = await jobs.enqueueIn(tx, 'add', [1, 2]);
      await expect(run.result()).rejects.toMatchObject({ code: 'RUN_FORGOTTEN' });
      await tx.query('commit');
      expect(await run.result()).toEqual({ sum: 3, attempt: 1 });
    } finally {
      tx.release();
    }
  });
});
