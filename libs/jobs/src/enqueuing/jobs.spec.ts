import { describe, expect, it, vi } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import { CRON } from '../../../../test/support/audit-history.js';
import { JOB, jobsStage } from '../../../../test/support/operating-stage.js';
import { UnknownCronError, IdempotencyKeyError } from './errors.js';
import { type EnqueueOptions } from './jobs.js';

describe('a job that is enqueued', () => {
  it('is a run of its own that the ledger knows, with its payload, and the queue has it', async () => {
    const { stage, jobs } = await jobsStage();
    const { runId, created } = await jobs.enqueue(JOB, { to: 'ada' }, { by: 'shop' });
    expect(created).toBe(true);
    expect(runId).toMatch(/^send-mail@manual-[0-9a-f-]{36}$/);
    const run = await stage.ledger.readRun(runId);
    expect(run).toMatchObject({ cron: JOB, state: 'enqueued', reason: 'manual', payload: '{"to":"ada"}', by: 'shop' });
    expect(run).toMatchObject({ generation: 1, handler: null, notBefore: null, priority: null });
    expect(stage.queue.taken).toEqual([{ runId, delivery: 1 }]);
    expect(await stage.asked()).toEqual([JOB]);
    expect((await jobs.enqueue(JOB)).runId).not.toBe(runId);
  });

  it('is in the ledger before the queue is told, so that a queue that is away loses nothing', async () => {
    const { stage, ledger, queue, jobs } = await jobsStage();
    queue.down();
    const { runId } = await jobs.enqueue(JOB);
    expect(await stage.ledger.readRun(runId)).toMatchObject({ state: 'claimed' });
    expect(await stage.ledger.pending(JOB)).toEqual([{ runId, delivery: 1 }]);
    expect(ledger.calls).not.toContain('confirm');
    expect(await stage.asked()).toEqual([JOB]);
  });

  it('is not enqueued when the ledger could not be asked', async () => {
    const { stage, ledger, jobs } = await jobsStage();
    ledger.next('trigger', 'fail');
    await expect(jobs.enqueue(JOB)).rejects.toThrow('trigger did not get through');
    expect(stage.queue.taken).toEqual([]);
  });

  it('is carried out by the handler that its definition names', async () => {
    const { stage, jobs } = await jobsStage();
    await stage.crons.set('mail-too', { expression: '@manual', handler: JOB, overlap: 'allow' }, { by: 'ada' });
    const { runId } = await jobs.enqueue('mail-too');
    expect(await stage.ledger.readRun(runId)).toMatchObject({ handler: JOB });
  });
});

describe('an idempotency key', () => {
  const KEY = { idempotencyKey: 'order-4711' };

  it('makes one run, however often it is asked for', async () => {
    const { stage, jobs } = await jobsStage();
    const first = await jobs.enqueue(JOB, { to: 'ada', copies: 2 }, KEY);
    expect(first).toEqual({ runId: 'send-mail@order-4711', created: true });
    expect(await jobs.enqueue(JOB, { copies: 2, to: 'ada' }, KEY)).toEqual({ ...first, created: false });
    expect(stage.queue.taken).toHaveLength(1);
    await stage.execute(first.runId);
    expect(await jobs.enqueue(JOB, { to: 'ada', copies: 2 }, KEY)).toEqual({ ...first, created: false });
    expect(stage.queue.taken).toHaveLength(1);
  });

  it.each([[{ to: 'ben' }], [{ to: 'ada', copies: 1 }], [null], [undefined]])(
    'is refused with another payload: %j',
    async (payload) => {
      const { stage, jobs } = await jobsStage();
      await jobs.enqueue(JOB, { to: 'ada' }, KEY);
      const again = jobs.enqueue(JOB, payload, KEY);
      await expect(again).rejects.toThrow(IdempotencyKeyError);
      await expect(again).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY', runId: 'send-mail@order-4711' });
      await expect(again).rejects.toThrow('The idempotency key "order-4711" of the job "send-mail"');
      expect(await stage.ledger.readRun('send-mail@order-4711')).toMatchObject({ payload: '{"to":"ada"}' });
    },
  );

  it('finds out after an error what became of the call, and hands the run over', async () => {
    const { stage, ledger, jobs } = await jobsStage();
    ledger.next('trigger', 'lose-reply');
    await expect(jobs.enqueue(JOB, 1, KEY)).rejects.toThrow('got lost');
    expect(stage.queue.taken).toEqual([]);
    expect(await jobs.enqueue(JOB, 1, KEY)).toEqual({ runId: 'send-mail@order-4711', created: false });
    expect(stage.queue.taken).toEqual([{ runId: 'send-mail@order-4711', delivery: 1 }]);
    expect(await stage.ledger.readRun('send-mail@order-4711')).toMatchObject({ state: 'enqueued' });
  });

  it('of one job says nothing of another one', async () => {
    const { stage, jobs } = await jobsStage();
    await stage.crons.set('other', { expression: '@manual', overlap: 'allow' }, { by: 'ada' });
    await jobs.enqueue(JOB, 1, KEY);
    expect(await jobs.enqueue('other', 2, KEY)).toEqual({ runId: 'other@order-4711', created: true });
  });

  it('that outlives the record of its run says that it was done', async () => {
    const { stage, jobs } = await jobsStage();
    const { runId } = await jobs.enqueue(JOB, 1, KEY);
    await stage.execute(runId);
    await stage.ledger.forgetAll([JOB], 0);
    expect(await jobs.enqueue(JOB, 2, KEY)).toEqual({ runId, created: false, alreadyDone: true });
    expect(await jobs.enqueueMany(JOB, [{ payload: 3, ...KEY }])).toEqual([
      { runId, created: false, alreadyDone: true },
    ]);
  });
});

it('a request without a key that comes too late is refused, and nobody is told that it was done', async () => {
  const { stage, jobs } = await jobsStage();
  vi.spyOn(stage.ledger, 'trigger').mockResolvedValueOnce({ verdict: 'forgotten' });
  await expect(jobs.enqueue(JOB, 1)).rejects.toMatchObject({ code: 'LATE_REQUEST' });
  expect(stage.queue.taken).toEqual([]);
});

describe('when a job runs', () => {
  it.each<[string, EnqueueOptions, number]>([
    ['after a delay', { delay: '5m' }, 300_000],
    ['after milliseconds', { delay: 1_500 }, 1_500],
  ])('can be put off: %s', async (_what, options, delayMs) => {
    const { stage, jobs } = await jobsStage();
    const { runId } = await jobs.enqueue(JOB, null, options);
    const now = stage.clock.now();
    expect(await stage.ledger.readRun(runId)).toMatchObject({ dueAt: now + delayMs, notBefore: now + delayMs });
    expect(stage.queue.taken).toEqual([{ runId, delivery: 1, delayMs }]);
  });

  it('is now for an instant that is past', async () => {
    const { stage, jobs } = await jobsStage();
    const { runId } = await jobs.enqueue(JOB, null, { runAt: stage.clock.now() - 1 });
    expect(stage.queue.taken).toEqual([{ runId, delivery: 1 }]);
  });

  it('is before others with a priority, which the ledger keeps for the next delivery', async () => {
    const { stage, jobs } = await jobsStage();
    const { runId } = await jobs.enqueue(JOB, null, { priority: 7 });
    expect(stage.queue.taken).toEqual([{ runId, delivery: 1, priority: 7 }]);
    expect(await stage.ledger.readRun(runId)).toMatchObject({ priority: 7 });
  });

  it.each<[keyof EnqueueOptions, EnqueueOptions]>([
    ['delay', { delay: 'soon' }],
    ['delay', { delay: -1 }],
    ['delay', { delay: '1m', runAt: 1 }],
    ['runAt', { runAt: new Date(Number.NaN) }],
    ['runAt', { runAt: 1.5 }],
    ['priority', { priority: 0 }],
    ['priority', { priority: 1.5 }],
    ['priority', { priority: 2 ** 21 }],
    ['idempotencyKey', { idempotencyKey: '' }],
    ['idempotencyKey', { idempotencyKey: 'x'.repeat(1_001) }],
    ['by', { by: ' ' }],
  ])('is refused with a wrong %s', async (option, options) => {
    const { stage, ledger, jobs } = await jobsStage();
    const asked = jobs.enqueue(JOB, null, options);
    await expect(asked).rejects.toThrow(OperatorInputError);
    await expect(asked).rejects.toThrow(`Expected ${option} to be`);
    expect(ledger.calls).toEqual([]);
    expect(stage.queue.taken).toEqual([]);
  });
});

describe('the name of a job', () => {
  it('is read alone, and once for all that is enqueued within some seconds', async () => {
    const { stage, catalog, jobs } = await jobsStage();
    const readings: unknown[] = [];
    const read = stage.catalog.read.bind(stage.catalog);
    stage.catalog.read = (names) => {
      readings.push(names);
      return read(names);
    };
    for (let n = 0; n < 3; n += 1) await jobs.enqueue(JOB);
    expect(readings).toEqual([[JOB]]);
    await stage.clock.advance(6_000);
    await jobs.enqueue(JOB);
    expect(readings).toEqual([[JOB], [JOB]]);
    expect(catalog.calls.filter((name) => name === 'read')).toHaveLength(2);
  });

  it('is refused when nobody declares it, with names that are like it', async () => {
    const { jobs } = await jobsStage();
    await expect(jobs.enqueue('send-mial')).rejects.toThrow(UnknownCronError);
    await expect(jobs.enqueue('send-mial')).rejects.toThrow('Did you mean "send-mail"?');
  });

  it('is refused when it was removed', async () => {
    const { stage, jobs } = await jobsStage();
    await jobs.enqueue(JOB);
    await stage.declare({});
    await stage.clock.advance(6_000);
    await expect(jobs.enqueue(JOB)).rejects.toThrow('was removed');
  });

  it('is refused when it is that of a cron', async () => {
    const { jobs } = await jobsStage();
    await expect(jobs.enqueue(CRON)).rejects.toThrow('is a cron, not a job');
  });

  it('is looked up once for what is enqueued within seconds, and then again', async () => {
    const { stage, catalog, jobs } = await jobsStage();
    await Promise.all([jobs.enqueue(JOB), jobs.enqueue(JOB)]);
    const before = catalog.calls.length;
    await jobs.enqueue(JOB);
    expect(catalog.calls.length).toBe(before);
    await stage.clock.advance(5_001);
    await jobs.enqueue(JOB);
    expect(catalog.calls.length).toBe(before + 1);
  });

  it('is known as soon as it is declared', async () => {
    const { stage, jobs } = await jobsStage();
    await jobs.enqueue(JOB);
    await stage.crons.set('brand-new', { expression: '@manual' }, { by: 'ada' });
    expect(await jobs.enqueue('brand-new')).toMatchObject({ created: true });
  });

  it('that was there a moment ago is known while the catalog is away', async () => {
    const { stage, catalog, jobs } = await jobsStage();
    await jobs.enqueue(JOB);
    await stage.clock.advance(60_000);
    catalog.down();
    expect(await jobs.enqueue(JOB)).toMatchObject({ created: true });
    await expect(jobs.enqueue('another')).rejects.toThrow('read did not get through');
  });
});
