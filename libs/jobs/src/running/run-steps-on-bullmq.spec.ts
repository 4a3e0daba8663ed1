import { redisKeys } from '@fencepost/lease/internal/redis';
import { describe, expect, it } from 'vitest';
import { monitorOf } from '../../../../test/support/monitor.js';
import { replyDroppingProxy } from '../../../../test/support/proxies.js';
import { testRedis } from '../../../../test/support/redis.js';
import { FORMER_QUEUE } from '../queue/routing.js';
import type { RunHandler } from './run-context.js';
import { CRON, enqueue, gate, jobOf, jobState, useWorkers, type Working } from './run-processor.stage.js';

const worker = useWorkers();

const ONCE = { attempts: 1, delayMs: 0, maxDelayMs: 0 };

/** The noted plans of this worker's begins. */
async function notes({ redis, space }: Working): Promise<string[]> {
  return redis.keys(`${space.prefix}:*{${space.tenant}:plans}:begin-*`);
}

async function noted(working: Working): Promise<void> {
  await expect.poll(() => notes(working)).toHaveLength(1);
}

/** What the worker itself sends from now on, and not what others or scripts do. */
async function sentBy({ own }: Working): Promise<{ readonly commands: string[]; readonly stop: () => void }> {
  const [id, commands] = [await own.client('ID'), [] as string[]];
  const { addr = '' } = /\baddr=(?<addr>\S+)/.exec(await own.client('INFO'))?.groups ?? {};
  const stop = await monitorOf(testRedis(), ([command = ''], source) => {
    if (source === addr) commands.push(command.toLowerCase());
  });
  expect(id).toBeGreaterThan(0);
  return { commands, stop };
}

const enqueueMany = async (working: Working, count: number, from = 0) => {
  const ids: string[] = [];
  for (let n = from; n < from + count; n += 1) ids.push(await enqueue(working, n));
  return ids;
};

/** A run whose handler goes on until `open` is called, and the key of its record. */
async function underWay() {
  const { passed, open } = gate();
  const working = await worker(() => passed);
  await noted(working);
  const id = await enqueue(working);
  await expect.poll(() => working.events.of('attempt.begun')).toHaveLength(1);
  return { working, id, open, key: redisKeys(working.space)(CRON, `run:${id}`) };
}

describe('a run and its job', () => {
  it('end, and the next ones begin, in one call for each', async () => {
    const working = await worker(() => {}, { concurrency: 1 });
    await noted(working);
    await working.runs.queues.named(FORMER_QUEUE).pause();
    const ids = await enqueueMany(working, 20);
    const { commands, stop } = await sentBy(working);
    await working.runs.queues.named(FORMER_QUEUE).resume();
    await expect.poll(() => jobState(working, ids.at(-1) as string)).toBe('completed');
    stop();
    expect(commands.filter((command) => command.startsWith('eval')).length).toBeLessThan(2 * ids.length);
    for (const id of ids) expect(await working.ledger.readRun(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    await expect.poll(() => working.events.of('attempt.succeeded')).toHaveLength(ids.length);
  });

  it('end together when the handler has limits, too, and never begin together', async () => {
    const working = await worker(() => {}, { limits: { rate: { max: 1_000, perMs: 1_000 } } });
    const ids = await enqueueMany(working, 3);
    for (const id of ids) await expect.poll(() => jobState(working, id)).toBe('completed');
    expect(await notes(working)).toEqual([]);
  });

  it('go their own ways where no note says what a begin asks for, and it is noted again', async () => {
    const working = await worker(() => {});
    await noted(working);
    await working.redis.del(...(await notes(working)));
    const id = await enqueue(working);
    await expect.poll(() => jobState(working, id)).toBe('completed');
    expect(await working.ledger.readRun(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    await noted(working);
  });

  it('ask for what is to be notified now, and not for what was before', async () => {
    let wanted = '';
    const working = await worker(() => {}, { notifyOf: () => wanted });
    await noted(working);
    wanted = 'succeeded';
    working.plan();
    await expect.poll(() => notes(working)).toHaveLength(2);
    const id = await enqueue(working);
    await expect.poll(() => jobState(working, id)).toBe('completed');
    expect(await working.ledger.notifications(CRON, 10)).toMatchObject([{ notify: 'succeeded', state: 'succeeded' }]);
  });

  it('have the result of the handler', async () => {
    const working = await worker(() => ({ rows: 7 }));
    await noted(working);
    const id = await enqueue(working);
    await expect.poll(() => jobState(working, id)).toBe('completed');
    expect(await working.ledger.readRun(id)).toMatchObject({ state: 'succeeded', result: '{"rows":7}' });
  });

  it('lets a stale attempt end its job and nothing else', async () => {
    const { working, id, open, key } = await underWay();
    // Another attempt has the run by now.
    await working.redis.hset(key, 'a', 'of-another');
    open();
    await expect.poll(() => jobState(working, id)).toBe('completed');
    await expect.poll(() => working.events.of('attempt.refused')).toHaveLength(1);
    expect(working.events.of('attempt.succeeded')).toEqual([]);
    expect(await working.ledger.readRun(id)).toMatchObject({ state: 'running', attempt: 1 });
  });

  it('are not completed while the record of the run is broken', async () => {
    const { working, id, open, key } = await underWay();
    const record = await working.redis.hget(key, 's');
    await working.redis.hset(key, 's', '9 nobody knows');
    open();
    await expect.poll(() => working.events.names).toContain('program.failed');
    await expect.poll(() => jobState(working, id)).toBe('failed');
    await working.redis.hset(key, 's', String(record));
    expect(await working.ledger.readRun(id)).toMatchObject({ state: 'running', attempt: 1 });
  });
});

describe('a reply that gets lost', () => {
  it('costs no attempt, and no run is executed twice or forgotten', async () => {
    const proxy = await replyDroppingProxy(String(process.env['REDIS_URL']));
    const executed: string[] = [];
    const handle: RunHandler = ({ id }) => {
      if (executed.push(id) % 10 === 0) proxy.dropNextReply();
    };
    try {
      const working = await worker(handle, { concurrency: 3, retry: ONCE, url: proxy.url });
      await noted(working);
      const queue = working.runs.queues.named(FORMER_QUEUE);
      await queue.pause();
      const ids = await enqueueMany(working, 100);
      await queue.resume();
      await expect.poll(() => queue.getCompletedCount(), { timeout: 20_000 }).toBe(ids.length);
      expect(proxy.dropped).toBeGreaterThan(2);
      expect(executed.toSorted()).toEqual(ids.toSorted());
      const runs = await Promise.all(ids.map((id) => working.ledger.readRun(id)));
      for (const run of runs) expect(run).toMatchObject({ state: 'succeeded', attempt: 1 });
      await working.stop();
    } finally {
      await proxy.close();
    }
  });
});

describe('a worker that stops', () => {
  it('executes what has begun with its job, and begins nothing more', async () => {
    const executed: string[] = [];
    const working = await worker(({ id }) => void executed.push(id), { concurrency: 3, retry: ONCE });
    await noted(working);
    const queue = working.runs.queues.named(FORMER_QUEUE);
    await queue.pause();
    const ids = await enqueueMany(working, 200);
    await queue.resume();
    await expect.poll(() => executed.length, { interval: 1 }).toBeGreaterThan(0);
    await working.stop();
    const runs = await Promise.all(ids.map((id) => working.ledger.readRun(id)));
    const begun = runs.flatMap((run) => (run && run.attempt > 0 ? [run] : []));
    expect(begun.filter(({ state }) => state !== 'succeeded')).toEqual([]);
    expect(begun.map(({ id }) => id).toSorted()).toEqual(executed.toSorted());
    const states = await Promise.all(begun.map(async ({ id }) => (await jobOf(working, id)).getState()));
    expect(new Set(states)).toEqual(new Set(['completed']));
  });
});
