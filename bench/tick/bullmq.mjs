import { createRequire } from 'node:module';
import { serve } from './child.mjs';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Queue, Worker } = ofJobs('bullmq');

/**
 * BullMQ by itself: `schedules` makes Job Schedulers, `work` takes jobs, `ticks` is the least a scheduler can do (a timer,
 * and the jobs of all crons in one `addBulk` at the instant, from one process), and `jobs` adds that many jobs at once and
 * says how long a bare worker took to begin the last of them, each time it is asked.
 */
await serve(async ({ redis, prefix, concurrency = 100 }, record) => {
  const connection = { url: redis, maxRetriesPerRequest: null };
  const queue = new Queue('bench', { connection, prefix });
  let begun = 0;
  let all = () => {};
  const work = async (job) => {
    // The nominal instant is the last part of a scheduler's job id.
    if (job.name === 'tick') record(Number(job.id.split(':').at(-1)));
    if (job.name === 'local') record(job.data.at);
    begun += 1;
    all();
  };
  const options = { connection, prefix, concurrency, autorun: false, removeOnComplete: { count: 1_000 } };
  const worker = new Worker('bench', work, options);
  worker.on('error', () => {});
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  return {
    async schedules({ count, expression }) {
      for (let from = 0; from < count; from += 100) {
        const part = Array.from({ length: Math.min(100, count - from) }, (_, n) => `cron-${from + n}`);
        await Promise.all(part.map((id) => queue.upsertJobScheduler(id, { pattern: expression }, { name: 'tick' })));
      }
      void worker.run();
    },
    async work() {
      void worker.run();
    },
    /** In these seconds of a minute, or in each. */
    async ticks({ count, seconds }) {
      const fire = (at) => {
        setTimeout(() => fire(at + 1_000), at + 1_000 - Date.now());
        if (seconds && !seconds.includes((at / 1_000) % 60)) return;
        const jobs = Array.from({ length: count }, (_, n) => ({
          name: 'local',
          data: { at },
          opts: { jobId: `cron-${n}@${at}`, removeOnComplete: { count: 1_000 } },
        }));
        void queue.addBulk(jobs);
      };
      const first = Math.ceil(Date.now() / 1_000) * 1_000;
      setTimeout(() => fire(first), first - Date.now());
    },
    async jobs({ count }) {
      await queue.pause();
      if (!worker.isRunning()) void worker.run();
      begun = 0;
      for (let from = 0; from < count; from += 1_000) {
        await queue.addBulk(Array.from({ length: Math.min(1_000, count - from) }, () => ({ name: 'job', data: {} })));
      }
      const started = performance.now();
      const drained = new Promise((resolve) => {
        all = () => begun >= count && resolve();
      });
      await queue.resume();
      await drained;
      return performance.now() - started;
    },
    async stop() {
      await worker.close(true);
      await queue.close();
    },
  };
});
