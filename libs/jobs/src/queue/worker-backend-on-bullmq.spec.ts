import { Worker, type Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { queuesStage, type QueuesStage, type Server } from './worker-backend.stage.js';

const names = (count: number, word = 'job') => Array.from({ length: count }, (_, n) => `${word}-${n}`);

const THREE = ['a', 'b', 'c'];
const SIX = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Resolves when the worker waits for the marker of a queue. */
function idle({ worker }: Server): Promise<unknown> {
  const at = worker as unknown as { waiting: unknown };
  return until('the worker waits', async () => at.waiting !== null);
}

/** A handler that ends when the test lets it. */
function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), process: async () => passed };
}

function sees({ seen }: Server, id: string): Promise<unknown> {
  return until(`the worker has ${id}`, async () => seen.includes(id));
}

/** Jobs that are taken by hand. */
async function take({ worker }: Server, token = 'token'): Promise<Job | undefined> {
  return (await worker.getNextJob(token, { block: false })) as Job | undefined;
}

describe('workerBackend', () => {
  it.each([1, 10])('takes jobs of all of its queues at a concurrency of %i', async (concurrency) => {
    const at = queuesStage();
    for (const name of THREE) await at.add(name, names(20, name));
    const { seen } = await at.works(THREE, { concurrency });
    await at.completed(THREE, 60);
    expect(seen.toSorted()).toEqual(THREE.flatMap((name) => names(20, name)).toSorted());
    for (const name of THREE) {
      expect(await at.queue(name).getJobCounts()).toMatchObject({ completed: 20, active: 0, waiting: 0 });
    }
  });

  it.each<[string, (at: QueuesStage) => Promise<unknown>]>([
    ['plain jobs', (at) => at.add('b', names(3, 'b'))],
    ['jobs with a priority', (at) => at.add('b', names(3, 'b'), { priority: 1 })],
    ['delayed jobs that are due', (at) => at.add('b', names(3, 'b'), { delay: 1 })],
    [
      'jobs of a queue with a limit',
      async (at) => {
        await at.queue('b').setGlobalConcurrency(5);
        await at.add('b', names(3, 'b'));
      },
    ],
  ])('gives %s their turn beside a full queue', async (_what, add) => {
    const at = queuesStage();
    await at.add('a', names(200, 'a'));
    await add(at);
    const { seen } = await at.works(THREE, { concurrency: 2 });
    await at.completed(THREE, 203);
    expect(seen.findLastIndex((id) => id.startsWith('b'))).toBeLessThan(60);
  });

  it('takes from the other queues while one is paused', async () => {
    const at = queuesStage();
    await at.add('a', names(3, 'a'));
    await at.add('b', names(3, 'b'));
    await at.queue('a').pause();
    const server = await at.works(THREE);
    await at.completed(THREE, 3);
    expect(server.seen).toEqual(names(3, 'b'));
    await at.queue('a').resume();
    await at.completed(THREE, 6);
  });

  it('takes from the other queues while one has reached its rate limit', async () => {
    const at = queuesStage();
    await at.queue('a').setGlobalRateLimit(1, 60_000);
    await at.add('a', names(3, 'a'));
    await at.add('b', names(3, 'b'));
    const server = await at.works(THREE);
    await at.completed(THREE, 4);
    await idle(server);
    await at.add('c', ['c-0']);
    await at.completed(['c'], 1);
    expect(await at.queue('a').getWaitingCount()).toBe(2);
  });

  it('takes a delayed job of the second queue when it is due, although it waits for jobs', async () => {
    const at = queuesStage();
    const server = await at.works(THREE, { drainDelay: 10 });
    await idle(server);
    await at.add('b', ['late'], { delay: 300 });
    const from = Date.now();
    await at.completed(['b'], 1);
    expect(Date.now() - from).toBeLessThan(3_000);
  });

  it('wakes for a job of each of its queues while it waits', async () => {
    const at = queuesStage();
    const server = await at.works(THREE, { drainDelay: 10 });
    for (const name of THREE) {
      await idle(server);
      await at.add(name, [`${name}-0`]);
      const from = Date.now();
      await at.completed([name], 1);
      expect(Date.now() - from).toBeLessThan(3_000);
    }
  });

  it('wakes another worker for the queue whose marker it popped, when it takes a job of another queue', async () => {
    const at = queuesStage();
    const { process, open } = gate();
    const both = await at.works(['a', 'b'], { drainDelay: 10, process });
    await idle(both);
    // Redis serves the client that waits longest.
    const other = await at.works(['a'], { drainDelay: 10 });
    await idle(other);
    // The first worker knows when this one is due, and the other one doesn't.
    await at.add('a', ['late'], { delay: 500 });
    await until('it has popped the marker', async () => (await at.redis.exists(`${at.prefix}:a:marker`)) === 0);
    await at.add('b', ['busy']);
    await sees(both, 'busy');
    await until('the late job is taken', async () => other.seen.includes('late'), 5_000);
    expect(both.seen).toEqual(['busy']);
    open();
  });

  it('brings back a stalled job of the second queue', async () => {
    const at = queuesStage();
    await at.add('b', ['left']);
    const dead = at.made(['b'], { lockDuration: 100 });
    await dead.worker.waitUntilReady();
    expect(await take(dead)).toMatchObject({ id: 'left' });
    await until('its lock has expired', async () => (await at.redis.exists(`${at.prefix}:b:left:lock`)) === 0);
    const { seen } = await at.works(THREE);
    await at.completed(['b'], 1);
    expect(seen).toEqual(['left']);
  });

  it('looks at another set of queues at once while it waits', async () => {
    const at = queuesStage();
    const server = await at.works(['a'], { drainDelay: 10 });
    await idle(server);
    await at.add('b', ['b-0']);
    // A delayed job whose marker is gone: nothing but a look tells when it is due.
    await at.add('c', ['c-0'], { delay: 200 });
    await at.redis.del(`${at.prefix}:c:marker`);
    const from = Date.now();
    server.queues.set(THREE);
    await at.completed(THREE, 2);
    expect(Date.now() - from).toBeLessThan(3_000);
  });

  it('ends a job in its queue after that queue was taken away from the worker', async () => {
    const at = queuesStage();
    const { process, open } = gate();
    await at.add('b', names(2, 'b'));
    const server = await at.works(THREE, { process });
    await sees(server, 'b-0');
    server.queues.set(['a']);
    open();
    await at.completed(['b'], 1);
    await at.add('a', ['a-0']);
    await at.completed(['a'], 1);
    expect(await at.queue('b').getJobCounts()).toMatchObject({ completed: 1, active: 0, waiting: 1 });
  });

  it.each<[string, (job: Job) => Promise<unknown>, object]>([
    ['fails', (job) => job.moveToFailed(new Error('thrown on purpose by a test'), 'token', false), { failed: 1 }],
    ['delays', (job) => job.moveToDelayed(Date.now() + 60_000, 'token'), { delayed: 1 }],
    ['completes', (job) => job.moveToCompleted('done', 'token', false), { completed: 1 }],
    ['puts back', (job) => job.moveToWait('token'), { waiting: 1 }],
  ])('%s a job in its queue, and has it no longer', async (_what, end, counts) => {
    const at = queuesStage();
    await at.add('c', ['c-0']);
    const server = at.made(THREE);
    await server.worker.waitUntilReady();
    const job = (await take(server)) as Job;
    expect(server.queues.queueOf('c-0')).toBe('c');
    await job.log('a line');
    await job.updateProgress(50);
    expect(await job.getState()).toBe('active');
    await job.extendLock('token', 60_000);
    await end(job);
    expect(await at.queue('c').getJobCounts()).toMatchObject({ active: 0, ...counts });
    expect(await at.queue('c').getJobLogs('c-0')).toMatchObject({ count: 1 });
    expect(server.queues.has('c-0')).toBe(false);
    expect((await at.redis.keys(`${at.prefix}:a:c-0*`)).length).toBe(0);
  });

  it('goes on with the other queues after a job that failed', async () => {
    const at = queuesStage();
    await at.add('a', names(3, 'a'));
    await at.add('b', names(3, 'b'));
    const failing = async ({ id = '' }: Job) => {
      if (id.startsWith('a')) throw new Error('thrown on purpose by a test');
    };
    await at.works(THREE, { process: failing });
    await at.completed(['b'], 3);
    await until('the others have failed', async () => (await at.queue('a').getFailedCount()) === 3);
    expect(await at.queue('a').getJobCounts()).toMatchObject({ active: 0, waiting: 0 });
  });

  it('renews the locks of jobs of several queues', async () => {
    const at = queuesStage();
    const { process, open } = gate();
    for (const name of THREE) await at.add(name, [`${name}-0`]);
    const server = await at.works(THREE, { concurrency: 3, process, lockDuration: 400 });
    for (const name of THREE) await sees(server, `${name}-0`);
    // A lock that is not renewed has ever less time left.
    for (const name of THREE) {
      let left = Infinity;
      await until(`the lock of ${name}-0 is renewed`, async () => {
        const [before, now] = [left, await at.redis.pttl(`${at.prefix}:${name}:${name}-0:lock`)];
        left = now;
        return now > before;
      });
    }
    open();
    await at.completed(THREE, 3);
    expect(await Promise.all(THREE.map((name) => at.queue(name).getFailedCount()))).toEqual([0, 0, 0]);
  });

  it.each([1, 2])('never has two jobs of one id, at a concurrency of %i', async (concurrency) => {
    const at = queuesStage();
    let most = 0;
    let now = 0;
    const process = async () => {
      now += 1;
      most = Math.max(most, now);
      for (let n = 0; n < 50; n += 1) await at.redis.ping();
      now -= 1;
    };
    await at.add('a', ['same']);
    await at.add('b', ['same']);
    await at.works(THREE, { concurrency, process });
    await at.completed(THREE, 2);
    expect(most).toBe(1);
    expect(await Promise.all(THREE.map((name) => at.queue(name).getCompletedCount()))).toEqual([1, 1, 0]);
  });

  it('shares its queues with workers of BullMQ that have one each', async () => {
    const at = queuesStage();
    for (const name of THREE) await at.add(name, names(30, name));
    const connection = at.redis.duplicate({ maxRetriesPerRequest: null });
    const seen: string[] = [];
    const see = async ({ id = '' }: Job) => void seen.push(id);
    const bare = new Worker('b', see, { connection, prefix: at.prefix, removeOnComplete: { count: 500 } });
    const server = await at.works(THREE);
    await at.completed(THREE, 90);
    await bare.close();
    connection.disconnect();
    expect(new Set([...seen, ...server.seen]).size).toBe(90);
    expect(seen.length + server.seen.length).toBe(90);
  });

  it('has as many connections, and idle commands, for six queues as for one', async () => {
    const at = queuesStage();
    const one = await at.works(['a'], { drainDelay: 1 });
    await idle(one);
    const few = await at.idleCost(one);
    await one.worker.close();
    const six = await at.works(SIX, { drainDelay: 1 });
    await idle(six);
    const many = await at.idleCost(six);
    expect(many.connections).toBe(few.connections);
    expect(many.commands).toBeLessThanOrEqual(few.commands + 1);
  });
});
