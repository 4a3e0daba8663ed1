import type { Job, JobsOptions } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import {
  bare,
  claimsInto,
  eventsOf,
  KEPT,
  names,
  own,
  ownWorker,
  stage,
  type Backend,
  type Stage,
} from './batching-backend.stage.js';

/*
 * Whatever is done to a queue, all of its keys are compared with those of a queue to which the same is done over BullMQ's own
 * store. A release of BullMQ that writes anything else fails here.
 */

/** Does the same on both, and compares after each step. */
async function expectAlike(...steps: ((at: Stage) => Promise<unknown>)[]): Promise<void> {
  const [one, other] = [stage({ adder: bare, worker: bare }), stage({ adder: own, worker: ownWorker })];
  for (const step of steps) {
    const [a, b] = [await step(one).catch(String), await step(other).catch(String)];
    expect(b).toEqual(a);
    expect(await other.snapshot()).toEqual(await one.snapshot());
  }
}

describe('a batch of new jobs', () => {
  it('is written as BullMQ writes it', async () => {
    await expectAlike(({ add }) => add(names(3)));
  });

  it('leaves jobs alone that exist, also twice in one batch', async () => {
    await expectAlike(
      ({ add }) => add(names(2)),
      ({ add }) => add(['job-1', 'job-2', 'job-2', 'job-3']),
      ({ add }) => add(['new-1', 'new-2', 'new-1']),
    );
  });

  it('has the trace of where each comes from', async () => {
    await expectAlike(({ add }) => add(names(2), { telemetry: { metadata: '{"traceparent":"00-a/b-c-01"}' } }));
  });

  it('is numbered by BullMQ where the jobs have no ids', async () => {
    const jobs = Array.from({ length: 3 }, (_, n) => ({
      name: 'numbered',
      data: { runId: `run-${n}` },
    }));
    await expectAlike(async ({ queue }) => (await queue.addBulk(jobs)).map(({ id }) => id));
  });

  it('is written as BullMQ writes it where its runs are claimed in the same step', async () => {
    const [one, other] = [stage({ adder: bare, worker: bare }), stage({ adder: own, worker: ownWorker })];
    const jobs = (crons: readonly string[]) => crons.map((cron) => `${cron}@1767225600000`);
    const jobOf = (runId: string) => ({
      name: runId.replace(/@.*/, ''),
      data: { runId },
      opts: { jobId: runId, attempts: 1 },
    });
    const adders: ((runIds: readonly string[]) => Promise<unknown>)[] = [
      (runIds) => one.queue.addBulk(runIds.map(jobOf)),
      claimsInto(other),
    ];
    const both = async (act: (at: Stage, add: (runIds: readonly string[]) => Promise<unknown>) => Promise<unknown>) => {
      for (const [n, at] of [one, other].entries()) await act(at, adders[n] ?? (() => Promise.reject()));
      expect(await other.snapshot()).toEqual(await one.snapshot());
    };
    await both((_at, add) => add(jobs(names(3))));
    await both(({ work }) => work(3));
    // The job of a run may be there although the ledger knows nothing of it.
    await both(({ queue }) => queue.addBulk(jobs(['known']).map(jobOf)));
    await both((_at, add) => add(jobs(['before', 'known', 'behind'])));
    await both(({ queue }) => queue.pause());
    await both((_at, add) => add(jobs(names(2, 'paused'))));
    await both(({ queue }) => queue.resume());
    await both(({ queue }) => queue.setGlobalConcurrency(1));
    await both(async ({ byHand }) => (await byHand()).getNextJob('t'));
    await both(({ redis, prefix }) => redis.del(`${prefix}:q:marker`));
    await both((_at, add) => add(jobs(names(2, 'more'))));
  });

  it('is longer than one script takes', async () => {
    await expectAlike(({ add }) => add(names(601)));
  });

  it.each<[string, JobsOptions]>([
    ['wait for a time', { delay: 60_000 }],
    ['have a priority', { priority: 3 }],
    ['go before all others', { lifo: true }],
    ['are kept otherwise', { removeOnComplete: true }],
    ['count as one', { deduplication: { id: 'same' } }],
  ])('is left to BullMQ where they %s', async (_what, options) => {
    await expectAlike(
      ({ add }) => add(names(2)),
      ({ add }) => add(names(3, 'other'), options),
    );
  });

  it('wakes nobody where the queue is paused, or has as many under way as it may', async () => {
    await expectAlike(
      ({ queue }) => queue.pause(),
      ({ add }) => add(names(2)),
      ({ queue }) => queue.resume(),
      ({ queue }) => queue.setGlobalConcurrency(1),
      async ({ byHand }) => (await (await byHand()).getNextJob('t'))?.id,
      ({ redis, prefix }) => redis.del(`${prefix}:q:marker`),
      ({ add }) => add(names(2, 'more')),
    );
  });
});

describe('a worker', () => {
  it('leaves what a worker of BullMQ leaves, and keeps as many jobs', async () => {
    await expectAlike(
      ({ add }) => add(names(12)),
      ({ work }) => work(12),
    );
  });

  it('keeps what a job returns', async () => {
    const process = async ({ id }: Job) => ({ id, text: 'ü'.repeat(50), none: null });
    await expectAlike(
      ({ add }) => add(names(3)),
      ({ work }) => work(3, { process }),
    );
  });

  it('ends jobs that fail among others', async () => {
    const process = async ({ id = '' }: Job) => {
      if (id.endsWith('1')) throw new Error('thrown on purpose by a test');
    };
    await expectAlike(
      ({ add }) => add(names(4)),
      ({ work }) => work(4, { process }),
    );
  });

  it('takes delayed jobs that are due, and those with a priority after the others', async () => {
    await expectAlike(
      ({ add }) => add(names(2, 'late'), { delay: 1 }),
      ({ add }) => add(names(2, 'early'), { priority: 2 }),
      ({ add }) => add(names(2)),
      ({ add }) => add(['tomorrow'], { delay: 86_400_000 }),
      async ({ queue }) => {
        const late = await queue.getJob('late-1');
        await until('both are due', async () => Date.now() > (late?.timestamp ?? Infinity) + 1);
      },
      ({ work }) => work(6),
    );
  });

  it('takes nothing that was paused, and no more than the queue lets it', async () => {
    const taken = (slot: string) => async (at: Stage) => {
      const worker = await at.byHand();
      return (await worker.getNextJob(slot, { block: false }))?.id;
    };
    await expectAlike(
      ({ add }) => add(names(5)),
      ({ queue }) => queue.pause(),
      taken('a'),
      ({ queue }) => queue.resume(),
      ({ queue }) => queue.setGlobalConcurrency(1),
      taken('b'),
      taken('c'),
      ({ queue }) => queue.removeGlobalConcurrency(),
      ({ queue }) => queue.setGlobalRateLimit(1, 60_000),
      taken('d'),
      taken('e'),
    );
  });

  it.each<[string, (at: Stage, job: Job) => Promise<unknown>]>([
    ['whose lock has expired', ({ redis, prefix }, { id }) => redis.del(`${prefix}:q:${id}:lock`)],
    ['that another has taken over', ({ redis, prefix }, { id }) => redis.set(`${prefix}:q:${id}:lock`, 'other')],
    ['that is gone with all of its queue', ({ queue }) => queue.obliterate({ force: true })],
    ['that is no longer active', ({ redis, prefix }, { id = '' }) => redis.lrem(`${prefix}:q:active`, 1, id)],
    ['that waits for children', ({ redis, prefix }, { id }) => redis.sadd(`${prefix}:q:${id}:dependencies`, 'child')],
  ])('refuses to complete a job %s, in the words of BullMQ', async (_what, disturb) => {
    await expectAlike(
      ({ add }) => add(names(3)),
      async (at) => {
        const job = await at.take();
        await disturb(at, job);
        return job.moveToCompleted('done', 'token', true);
      },
    );
  });

  it('brings a job back that a worker left, as a stalled one', async () => {
    await expectAlike(
      ({ add }) => add(names(3)),
      async (at) => {
        const worker = await at.byHand();
        const job = await at.take();
        await at.redis.del(`${at.prefix}:q:${job.id}:lock`);
        // The first look marks what has no lock, the second one moves it.
        for (let looks = 0; looks < 2; looks += 1) {
          await at.redis.del(`${at.prefix}:q:stalled-check`);
          await (worker as unknown as { moveStalledJobsToWait(): Promise<unknown> }).moveStalledJobsToWait();
        }
      },
      ({ work }) => work(3),
    );
  });

  it.each<[string, Backend, Backend]>([
    ['that BullMQ has added', bare, ownWorker],
    ['for a worker of BullMQ', own, bare],
  ])('shares its queue: jobs %s', async (_what, adder, worker) => {
    const [one, other] = [stage({ adder: bare, worker: bare }), stage({ adder, worker })];
    for (const at of [one, other]) {
      await at.add(names(4));
      await at.work(4);
    }
    expect(await other.snapshot()).toEqual(await one.snapshot());
  });

  it('of many slots takes each job once, and leaves the same events', async () => {
    const [one, other] = [stage({ adder: bare, worker: bare }), stage({ adder: own, worker: ownWorker })];
    for (const at of [one, other]) {
      const seen: (string | undefined)[] = [];
      const process = async ({ id }: Job) => void seen.push(id);
      await at.add(names(300));
      await at.work(300, { concurrency: 100, process });
      expect(new Set(seen)).toEqual(new Set(names(300)));
      expect(seen).toHaveLength(300);
      expect(await at.queue.getJobCounts()).toMatchObject({ completed: KEPT.count, active: 0, waiting: 0, failed: 0 });
    }
    expect(await eventsOf(other)).toEqual(await eventsOf(one));
  });
});
