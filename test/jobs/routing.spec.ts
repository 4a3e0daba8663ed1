import { Queue } from 'bullmq';
import { LEDGER } from '@fencepost/jobs';
import { CATALOG, FORMER_QUEUE, queuePrefix, readQueueLimits, UNROUTED_QUEUE } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { describe, expect, it } from 'vitest';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import { routedWorkers, type Started } from './routed-workers.js';

const { spaces, start, close } = routedWorkers();

const D = 'default';
const SOON = { timeout: 20_000 };

describe('a run', () => {
  it('reaches only workers of its app, on queues of their own, however many apps share a Redis', async () => {
    const space = spaces.fresh();
    const billing = await start(space, { app: 'billing', jobs: { charge: D } });
    const mail = await start(space, { app: '@shop/mail', jobs: { send: D } });
    await billing.jobs.enqueueMany(
      'charge',
      Array.from({ length: 30 }, () => ({})),
    );
    await billing.jobs.enqueueMany(
      'send',
      Array.from({ length: 30 }, () => ({})),
    );
    await expect.poll(() => [billing.done.length, mail.done.length], SOON).toEqual([30, 30]);
    for (const { events } of [billing, mail]) expect(events.of('attempt.unhandled')).toEqual([]);
    const counts = async (name: string) => (await billing.queue.queues.named(name).getJobCounts('completed')).completed;
    await expect.poll(() => counts('billing'), SOON).toBe(30);
    await expect.poll(() => counts('@shop~mail'), SOON).toBe(30);
  });

  it('of a job that a rolling deploy adds reaches only pods of the new build, and what both have reaches either', async () => {
    const space = spaces.fresh();
    const old = await start(space, { app: 'shop', jobs: { kept: D, dropped: D } });
    const fresh = await start(space, { app: 'shop', jobs: { kept: D, added: D } });
    const twenty = Array.from({ length: 20 }, () => ({}));
    for (const job of ['added', 'kept', 'dropped']) await fresh.jobs.enqueueMany(job, twenty);
    await expect.poll(() => old.done.length + fresh.done.length, SOON).toBe(60);
    const names = ({ done }: typeof old, cron: string) => done.filter((run) => run.cron === cron).length;
    expect([names(fresh, 'added'), names(old, 'dropped')]).toEqual([20, 20]);
    for (const { events } of [old, fresh]) expect(events.of('attempt.unhandled')).toEqual([]);
    await close(old);
    await fresh.jobs.enqueue('added');
    await expect.poll(() => names(fresh, 'added'), SOON).toBe(21);
    await expect
      .poll(async () => (await fresh.queue.queues.named('shop').getJobCounts('completed')).completed, SOON)
      .toBeGreaterThan(20);
  });

  it('whose handler no live worker has waits without being offered, says why, and runs as soon as a worker has it', async () => {
    const space = spaces.fresh();
    const mail = await start(space, { app: 'mail', jobs: { send: D } });
    await close(mail);
    const billing = await start(space, { app: 'billing', jobs: { charge: D } });
    const { runId } = await billing.jobs.enqueue('send');
    const ledger = billing.app.get<Ledger>(LEDGER);
    await expect.poll(async () => (await ledger.readRun(runId))?.waiting, SOON).toBe('no-capable-worker');
    expect(billing.events.of('run.unrouted')).toMatchObject([{ cron: 'send', runId }]);
    expect(billing.events.of('attempt.unhandled')).toEqual([]);
    expect(await billing.queue.holds([{ runId, delivery: 1 }])).toEqual(['waiting']);
    expect((await billing.queue.queues.named(UNROUTED_QUEUE).getWaiting()).map(({ id }) => id)).toEqual([runId]);
    const again = await start(space, { app: 'mail', jobs: { send: D } });
    await expect.poll(() => again.done.map(({ id }) => id), SOON).toEqual([runId]);
    await expect.poll(() => again.queue.queues.named(UNROUTED_QUEUE).count(), SOON).toBe(0);
  });

  it.each<[string, Omit<Started, 'app'>]>([
    ['while workers without its handler are live', { jobs: { charge: D } }],
    ['while no worker is live', { jobs: {}, roles: ['scheduler'] }],
  ])('that no worker can execute makes later instants say so, and none an overlap, %s', async (_, program) => {
    const space = spaces.fresh();
    const mail = await start(space, { app: 'mail', jobs: { send: D } });
    await close(mail);
    const billing = await start(space, { app: 'billing', ...program });
    const ledger = billing.app.get<Ledger>(LEDGER);
    await billing.app.get(CronCatalog).set('newsletter', { every: '1s', handler: 'send' }, { by: 'ann' });
    const skipped = async () => (await ledger.runs('newsletter', 100)).flatMap((run) => run.skipped ?? []);
    await expect.poll(async () => (await skipped()).length, SOON).toBeGreaterThan(2);
    expect(new Set(await skipped())).toEqual(new Set(['no-capable-worker']));
    const events = billing.events.of('occurrence.skipped');
    expect(new Set(events.map(({ reason }) => reason))).toEqual(new Set(['no-capable-worker']));
    expect(billing.events.of('run.unrouted')).toHaveLength(1);
    const again = await start(space, { app: 'mail', jobs: { send: D } });
    await expect.poll(() => again.done.length, SOON).toBeGreaterThan(1);
  });

  it('waits for a slot, and not for a worker, as soon as a worker has its handler', async () => {
    const space = spaces.fresh();
    const mail = await start(space, { app: 'mail', jobs: { send: D } });
    await close(mail);
    const billing = await start(space, { app: 'billing', jobs: { charge: D } });
    const ledger = billing.app.get<Ledger>(LEDGER);
    const { runId } = await billing.jobs.enqueue('send');
    const waiting = async () => (await ledger.readRun(runId))?.waiting;
    await expect.poll(waiting, SOON).toBe('no-capable-worker');
    // Bull Board stops what the worker would take.
    await billing.queue.queues.named('mail').pause();
    await start(space, { app: 'mail', jobs: { send: D } });
    await expect.poll(waiting, SOON).toBeNull();
    expect(await ledger.readRun(runId)).toMatchObject({ state: 'enqueued', attempt: 0 });
  });

  it('is found by the worker that brings its handler, however many others wait in front of it in any state', async () => {
    const space = spaces.fresh();
    const mail = await start(space, { app: 'mail', jobs: { send: D } });
    await close(mail);
    const billing = await start(space, { app: 'billing', jobs: { charge: D } });
    const parked = billing.queue.queues.named(UNROUTED_QUEUE);
    await billing.queue.queues.note([UNROUTED_QUEUE]);
    const others = Array.from({ length: 150 }, (_, n) => ({ name: 'gone', data: { runId: `gone@${n}` } }));
    await parked.addBulk(others);
    await parked.addBulk(others.map((job) => ({ ...job, opts: { delay: 3_600_000 } })));
    const runs = await billing.jobs.enqueueMany(
      'send',
      Array.from({ length: 5 }, () => ({})),
    );
    const late = await billing.jobs.enqueue('send', null, { delay: '1s' });
    const again = await start(space, { app: 'mail', jobs: { send: D } });
    const ids = [...runs, late].map(({ runId }) => runId);
    await expect.poll(() => again.done.map(({ id }) => id).toSorted(), SOON).toEqual(ids.toSorted());
    await expect.poll(() => parked.getJobCounts('waiting', 'delayed'), SOON).toEqual({ waiting: 150, delayed: 150 });
  });

  it('of a pool reaches only workers of that pool, whatever else their build could do', async () => {
    const space = spaces.fresh();
    const jobs = { light: D, render: 'heavy' };
    const light = await start(space, { app: 'shop', jobs });
    const heavy = await start(space, { app: 'shop', jobs, options: { pools: ['heavy'] } });
    for (const job of ['light', 'render'])
      await light.jobs.enqueueMany(
        job,
        Array.from({ length: 20 }, () => ({})),
      );
    await expect.poll(() => [light.done.length, heavy.done.length], SOON).toEqual([20, 20]);
    expect(new Set(heavy.done.map(({ cron }) => cron))).toEqual(new Set(['render']));
    await expect
      .poll(async () => (await light.queue.queues.named('shop.heavy').getJobCounts('completed')).completed, SOON)
      .toBe(20);
  });

  it('waits while the queue of its app is paused, whatever group its worker is in and whenever that came', async () => {
    const space = spaces.fresh();
    const old = await start(space, { app: 'shop', jobs: { kept: D } });
    const fresh = await start(space, { app: 'shop', jobs: { kept: D, added: D } });
    await fresh.queue.queues.pause('shop');
    const newest = await start(space, { app: 'shop', jobs: { kept: D, added: D, latest: D } });
    for (const job of ['kept', 'added', 'latest']) await newest.jobs.enqueue(job);
    const limits = async () => readQueueLimits({ redis: spaces.redis(), ...space });
    const waiting = (await limits()).filter((queue) => queue.waiting > 0);
    expect(waiting.map(({ isPaused, pausedUnlike }) => [isPaused, pausedUnlike])).toEqual([
      [true, null],
      [true, null],
    ]);
    const doneOf = () => [old, fresh, newest].flatMap(({ done }) => done.map(({ cron }) => cron)).toSorted();
    expect(doneOf()).toEqual([]);
    await old.queue.queues.resume('shop');
    await expect.poll(doneOf, SOON).toEqual(['added', 'kept', 'latest']);
    const [group = ''] = waiting.map(({ queue }) => queue).filter((queue) => queue !== 'shop');
    await old.queue.queues.named(group).pause();
    expect((await limits()).filter(({ pausedUnlike }) => pausedUnlike !== null)).toMatchObject([
      { queue: group, isPaused: true, pausedUnlike: 'shop' },
    ]);
  });

  it('of a cron that was made at run time reaches a worker with the handler that it names', async () => {
    const space = spaces.fresh();
    const billing = await start(space, { app: 'billing', jobs: { charge: D } });
    const mail = await start(space, { app: 'mail', jobs: { send: D } });
    await billing.app.get(CronCatalog).set('newsletter', { expression: '0 4 * * *', handler: 'send' }, { by: 'ann' });
    for (let n = 0; n < 10; n += 1)
      await billing.app.get(CronOperator).trigger('newsletter', { by: 'ann', force: true });
    await expect.poll(() => mail.done.length, SOON).toBe(10);
    expect([billing, mail].flatMap(({ events }) => events.of('attempt.unhandled'))).toEqual([]);
  });

  it('in the queue of former releases is executed, though a worker without its handler takes it first', async () => {
    const space = spaces.fresh();
    const mail = await start(space, { app: 'mail', jobs: { send: D } });
    await close(mail);
    // As a scheduler of a former release leaves it.
    const former = new Queue(FORMER_QUEUE, { connection: spaces.redis(), prefix: queuePrefix(space) });
    const billing = await start(space, { app: 'billing', jobs: { charge: D } });
    const ledger = billing.app.get<Ledger>(LEDGER);
    const { entries } = await billing.app.get<Catalog>(CATALOG).read(['send']);
    expect(entries).toHaveLength(1);
    const { runId } = await billing.jobs.enqueue('send');
    await billing.queue.queues.named(UNROUTED_QUEUE).obliterate({ force: true });
    await former.add('send', { runId }, { jobId: runId, attempts: 1 });
    await expect.poll(() => billing.events.of('attempt.unhandled').length, SOON).toBe(1);
    const again = await start(space, { app: 'mail', jobs: { send: D } });
    await expect.poll(() => again.done.map(({ id }) => id), SOON).toEqual([runId]);
    await expect.poll(async () => (await ledger.readRun(runId))?.state, SOON).toBe('succeeded');
    expect(await former.getJob(runId)).toBeUndefined();
  });
});
