import { Worker, type Job } from 'bullmq';
import { closeRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { BullmqRunQueue, FORMER_QUEUE, queuePrefix, MAX_PRIORITY } from '@fencepost/jobs/internal';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const RUN = 'nightly-report@1763607600000';

function queue() {
  const space = spaces.fresh();
  const troubles: Error[] = [];
  const runs = new BullmqRunQueue({ redis: spaces.redis(), ...space, onTrouble: (error) => void troubles.push(error) });
  closing.push(() => runs.close());
  return { runs, space, troubles };
}

/** Takes jobs by hand, so that a test sees each state. */
function worker(space: ReturnType<typeof spaces.fresh>): Worker {
  const connection = spaces.redis().duplicate({ maxRetriesPerRequest: null });
  const taking = new Worker(FORMER_QUEUE, null, { connection, prefix: queuePrefix(space) });
  closing.push(async () => {
    await taking.close(true);
    await closeRedis(connection);
  });
  return taking;
}

async function take(taking: Worker): Promise<Job> {
  const job = await taking.getNextJob('token');
  if (!job) throw new Error('Expected a job.');
  return job;
}

describe('the queue', () => {
  it('has a job named after the cron, with the id of the run, and nothing in it but that', async () => {
    const { runs } = queue();
    await runs.enqueue([{ runId: RUN, delivery: 1 }]);
    const [job] = await runs.queues.named(FORMER_QUEUE).getJobs();
    expect(job).toMatchObject({ id: RUN, name: 'nightly-report', data: { runId: RUN }, opts: { attempts: 1 } });
  });

  it('takes the same delivery twice as one job, and the next delivery as another', async () => {
    const { runs } = queue();
    await runs.enqueue([{ runId: RUN, delivery: 1 }]);
    await runs.enqueue([
      { runId: RUN, delivery: 1 },
      { runId: RUN, delivery: 2 },
    ]);
    const jobs = await runs.queues.named(FORMER_QUEUE).getJobs();
    expect(new Set(jobs.map(({ id }) => id))).toEqual(new Set([RUN, `${RUN}-d2`]));
    expect(new Set(jobs.map(({ data }) => data.runId))).toEqual(new Set([RUN]));
  });

  it('takes a new delivery although a job that is kept has the id of the run', async () => {
    const { runs, space } = queue();
    const taking = worker(space);
    await runs.enqueue([{ runId: RUN, delivery: 1 }]);
    await (await take(taking)).moveToCompleted(null, 'token', false);
    await runs.enqueue([{ runId: RUN, delivery: 1 }]);
    expect(await runs.holds([{ runId: RUN, delivery: 1 }])).toEqual([null]);
    await runs.enqueue([{ runId: RUN, delivery: 2 }]);
    expect(await runs.holds([{ runId: RUN, delivery: 2 }])).toEqual(['waiting']);
  });

  it('says of each delivery whether it will still reach a worker, in the order of the question', async () => {
    const { runs, space } = queue();
    const taking = worker(space);
    await runs.enqueue(['c@1', 'c@2', 'c@3', 'c@4', 'c@5'].map((runId) => ({ runId, delivery: 1 })));
    await (await take(taking)).moveToCompleted(null, 'token', false);
    await (await take(taking)).moveToFailed(new Error('no'), 'token', false);
    await (await take(taking)).moveToDelayed(Date.now() + 60_000, 'token');
    await take(taking);
    const asked = ['c@5', 'c@4', 'c@3', 'c@2', 'c@1', 'c@6'].map((runId) => ({ runId, delivery: 1 }));
    expect(await runs.holds(asked)).toEqual(['waiting', 'active', 'waiting', null, null, null]);
    expect(await runs.holds([])).toEqual([]);
  });

  it('brings what has the largest priority number to a worker after everything else, and holds it meanwhile', async () => {
    const { runs, space } = queue();
    const taking = worker(space);
    const low = { runId: 'c@1', delivery: 1, priority: MAX_PRIORITY };
    await runs.enqueue([low, { ...low, runId: 'c@2' }]);
    await runs.enqueue([{ runId: 'c@3', delivery: 1 }]);
    expect(await runs.holds([low])).toEqual(['waiting']);
    const taken = [await take(taking), await take(taking), await take(taking)];
    expect(taken.map(({ id }) => id)).toEqual(['c@3', 'c@1', 'c@2']);
  });

  it('holds what is put off, which waits in it as long as it is put off', async () => {
    const { runs, space } = queue();
    const taking = worker(space);
    await runs.enqueue([{ runId: RUN, delivery: 1, delayMs: 3_600_000.5, priority: 3 }]);
    expect(await runs.holds([{ runId: RUN, delivery: 1 }])).toEqual(['waiting']);
    const job = await runs.queues.named(FORMER_QUEUE).getJob(RUN);
    expect(await job?.getState()).toBe('delayed');
    expect(job?.opts).toMatchObject({ delay: 3_600_001, priority: 3 });
    await job?.promote();
    expect((await take(taking)).id).toBe(RUN);
  });

  it('has all its keys in one cluster slot', async () => {
    const { runs, space } = queue();
    await runs.enqueue([{ runId: RUN, delivery: 1 }]);
    const keys = await spaces.redis().keys(`*${space.prefix}*`);
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.filter((key) => !key.startsWith(`{${space.prefix}:default}:`))).toEqual([]);
  });

  it('keeps tenants apart', async () => {
    const { runs, space } = queue();
    await runs.enqueue([{ runId: RUN, delivery: 1 }]);
    const other = new BullmqRunQueue({ redis: spaces.redis(), ...space, tenant: 'other', onTrouble: () => {} });
    expect(await other.holds([{ runId: RUN, delivery: 1 }])).toEqual([null]);
    await other.close();
  });
});
