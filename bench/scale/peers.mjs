import { createRequire } from 'node:module';
import { Member } from '../tick/crew.mjs';
import { usedBytes } from './server.mjs';
import { sleep } from './stage.mjs';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Queue } = ofJobs('bullmq');

const AT_ONCE = 250;

async function withQueue(url, use) {
  const queue = new Queue('bare', { connection: { url, maxRetriesPerRequest: null }, prefix: 'bare' });
  try {
    await queue.waitUntilReady();
    return await use(queue);
  } finally {
    await queue.close();
  }
}

/** What one Job Scheduler of BullMQ takes in Redis, its delayed job included. */
export function bullmqBytes({ redis, client }, count) {
  return withQueue(redis, async (queue) => {
    const before = await usedBytes(client);
    for (let n = 0; n < count; n += AT_ONCE) {
      const part = Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, k) => `cron-${n + k}`);
      await Promise.all(part.map((id) => queue.upsertJobScheduler(id, { pattern: '0 0 1 1 *' }, { name: 'tick' })));
    }
    return ((await usedBytes(client)) - before) / count;
  });
}

/** The least that it takes to enqueue so many jobs from one process, milliseconds. */
export function addBulkMs(url, count) {
  return withQueue(url, async (queue) => {
    const since = performance.now();
    for (let n = 0; n < count; n += AT_ONCE) {
      await queue.addBulk(
        Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, k) => ({
          name: `cron-${n + k}`,
          data: { runId: `cron-${n + k}@${since}` },
          opts: { jobId: `cron-${n + k}@1`, attempts: 1 },
        })),
      );
    }
    return performance.now() - since;
  });
}

const AHEAD_MS_EACH = 2;

/** Job Schedulers that are due at one instant, with one worker: until the last job has begun, milliseconds. */
export async function jobSchedulersMs({ redis, prefix }, count) {
  const worker = await Member.start('bullmq', { redis, prefix });
  try {
    const at = Math.ceil((Date.now() + 5_000 + count * AHEAD_MS_EACH) / 1_000) * 1_000;
    const date = new Date(at);
    const expression = `${date.getSeconds()} ${date.getMinutes()} ${date.getHours()} * * *`;
    await worker.ask('schedules', { count, expression });
    await worker.ask('mark');
    const late = [];
    await sleep(Math.max(0, at - Date.now()));
    const until = Date.now() + 60_000;
    while (late.length < count && Date.now() < until) {
      await sleep(200);
      late.push(...(await worker.ask('take')).late.slice(late.length));
    }
    return late.length < count ? NaN : Math.max(...late);
  } finally {
    await worker.ask('stop').catch(() => {});
    await worker.end();
  }
}
