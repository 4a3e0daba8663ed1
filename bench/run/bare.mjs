import { createRequire } from 'node:module';
import { serve } from './child.mjs';
import { Tally } from './tally.mjs';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Queue, Worker } = ofJobs('bullmq');

/** A worker on BullMQ as one writes it by hand: no fence, no record. It keeps as many finished jobs as ours do. */
await serve(async ({ redis, prefix, concurrency }) => {
  const connection = { url: redis, maxRetriesPerRequest: null };
  const queue = new Queue('bare', { connection, prefix });
  const tally = new Tally();
  const worker = new Worker('bare', async () => tally.count(), { connection, prefix, concurrency, drainDelay: 1 });
  worker.on('error', () => {});
  worker.on('failed', (_job, error) => tally.fail(error));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  const opts = { attempts: 1, removeOnComplete: { count: 1_000, age: 24 * 3_600 } };
  let made = 0;
  return {
    async fill({ count }) {
      await queue.pause();
      const job = () => ({
        name: 'job',
        data: { runId: `job-${(made += 1)}` },
        opts: { ...opts, jobId: `job-${made}` },
      });
      await queue.addBulk(Array.from({ length: count }, job));
    },
    drain: ({ count }) => tally.window(count, () => queue.resume()),
    async stop() {
      await worker.close(true);
      await queue.close();
    },
  };
});
