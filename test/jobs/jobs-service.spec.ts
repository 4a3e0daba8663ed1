import { Injectable } from '@nestjs/common';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, LEDGER, JobHandler, Jobs, type Role, type JobRun } from '@fencepost/jobs';
import { queuePrefix } from '@fencepost/jobs/internal';
import type { Ledger } from '@fencepost/ledger';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { IdempotencyKeyError } from '@fencepost/jobs/errors';
import { RedisLedger } from '@fencepost/ledger/redis';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

const invoice = z.object({ order: z.string(), due: z.string().transform((text) => new Date(text)) });

@Injectable()
class Invoices {
  readonly sent: JobRun<typeof invoice>['payload'][] = [];

  @JobHandler('send-invoice', { schema: invoice })
  send(run: JobRun<typeof invoice>): void {
    this.sent.push(run.payload);
  }
}

@Injectable()
class Notes {
  readonly taken: unknown[] = [];

  @JobHandler('take-note', { retry: { attempts: 3, delay: '10ms' } })
  take(run: { readonly payload: unknown; readonly attempt: number }): void {
    this.taken.push(run.payload);
    if (run.payload === 'again' && run.attempt === 1) throw new Error('once more');
  }
}

type Space = ReturnType<typeof spaces.fresh>;

interface Started {
  readonly roles?: readonly Role[];
  readonly concurrency?: number;
  readonly providers?: Provider[];
  /** A ledger that looks after a run sooner than in half a minute. */
  readonly shortened?: boolean;
}

async function start(space: Space, { roles = ['worker'], providers = [], shortened, ...options }: Started) {
  const one = { redis: testRedis(), ...space, app: 'office', drainDeadline: '2s', sweepEvery: '500ms', ...options };
  const testing = Test.createTestingModule({ imports: [JobsModule.forRoot({ roles, ...one })], providers });
  const ledger = new RedisLedger({ redis: spaces.redis(), ...space, timing: { sweepMs: 1_500 } });
  const app = await (shortened ? testing.overrideProvider(LEDGER).useValue(ledger) : testing).compile();
  apps.push(app);
  return app.init();
}

const DUE = '2026-03-01T00:00:00.000Z';
const PAYLOAD = { order: '4711', due: DUE };
const WAIT = { timeout: 10_000 };

describe('a job that one process enqueues and another one carries out', () => {
  it('has the payload that its schema makes, once for each idempotency key', async () => {
    const space = spaces.fresh();
    const worker = await start(space, { providers: [Invoices] });
    const jobs = (await start(space, { roles: ['scheduler'] })).get(Jobs);
    const { sent } = worker.get(Invoices);
    const first = await jobs.enqueue('send-invoice', PAYLOAD, { idempotencyKey: 'order-4711' });
    expect(first).toEqual({ runId: 'send-invoice@order-4711', created: true });
    await expect.poll(() => sent, WAIT).toEqual([{ order: '4711', due: new Date(DUE) }]);

    expect(await jobs.enqueue('send-invoice', PAYLOAD, { idempotencyKey: 'order-4711' })).toMatchObject({
      created: false,
    });
    const other = jobs.enqueue('send-invoice', { ...PAYLOAD, order: '1' }, { idempotencyKey: 'order-4711' });
    await expect(other).rejects.toThrow(IdempotencyKeyError);
    await jobs.enqueue('send-invoice', { ...PAYLOAD, order: '4712' });
    await expect.poll(() => sent.map(({ order }) => order), WAIT).toEqual(['4711', '4712']);
  });
});

describe('a payload that its job can not read', () => {
  it('fails its run at once where a newer revision expects another one', async () => {
    @Injectable()
    class NewerInvoices {
      readonly sent: unknown[] = [];

      @JobHandler('send-invoice', { schema: invoice.extend({ currency: z.enum(['EUR', 'CHF']) }) })
      send(run: { readonly payload: unknown }): void {
        this.sent.push(run.payload);
      }
    }
    const space = spaces.fresh();
    const older = await start(space, { providers: [Invoices] });
    await older.close();
    const jobs = (await start(space, { roles: ['scheduler'] })).get(Jobs);
    const { runId } = await jobs.enqueue('send-invoice', PAYLOAD);
    const app = await start(space, { providers: [NewerInvoices] });
    const run = () => app.get<Ledger>(LEDGER).readRun(runId);
    await expect.poll(run, WAIT).toMatchObject({ state: 'failed', attempt: 1 });
    expect((await run())?.error).toContain('currency: ');
    expect(app.get(NewerInvoices).sent).toEqual([]);
  });
});

describe('a queue that loses everything', () => {
  it('loses no job', async () => {
    const space = spaces.fresh();
    await start(space, { providers: [Notes] }).then((declaring) => declaring.close());
    const app = await start(space, { roles: ['scheduler'], shortened: true });
    const enqueued = await app.get(Jobs).enqueueMany('take-note', [{ payload: 'a' }, { payload: 'b' }]);
    const keys = await spaces.redis().keys(`${queuePrefix(space)}:runs:*`);
    expect(keys.length).toBeGreaterThan(0);
    await spaces.redis().del(keys);
    const worker = await start(space, { providers: [Notes] });
    // A look that came before the loss is followed by the next one ten seconds later.
    await expect.poll(() => new Set(worker.get(Notes).taken), { timeout: 25_000 }).toEqual(new Set(['a', 'b']));
    const states = await Promise.all(enqueued.map(({ runId }) => app.get<Ledger>(LEDGER).readRun(runId)));
    expect(states.map((run) => run?.delivery)).toEqual([2, 2]);
  });
});
