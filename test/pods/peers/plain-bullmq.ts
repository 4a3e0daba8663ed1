import { Queue, Worker } from 'bullmq';
import { Report, say, told } from './report.js';

/**
 * BullMQ's Job Schedulers as its documentation has them: every replica declares the scheduler when it starts and is a worker.
 * Retries with backoff, and a connection that waits for its server. More stalls are forgiven than by default, so that a job
 * isn't given up for being struck twice.
 */
const { redisUrl, prefix, expression, lockMs } = told();
const report = new Report();
const connection = { url: redisUrl, maxRetriesPerRequest: null };
const common = { connection, prefix };
const queue = new Queue('reports', common);
queue.on('error', ({ message }) => say({ event: 'queue_error', message }));

const worker = new Worker(
  'reports',
  async ({ id = '' }) => {
    // The nominal instant is the last part of a scheduler's job id.
    await report.make(Number(id.split(':').at(-1)));
  },
  { ...common, concurrency: 1, lockDuration: lockMs, stalledInterval: lockMs / 2, maxStalledCount: 10 },
);
worker.on('error', ({ message }) => say({ event: 'worker_error', message }));

process.once('SIGTERM', () => {
  void worker
    .close()
    .then(() => queue.close())
    .then(() => report.close());
});

await queue.upsertJobScheduler(
  'report',
  { pattern: expression, tz: 'UTC' },
  {
    name: 'report',
    opts: {
      attempts: 10,
      backoff: { type: 'exponential', delay: 200 },
      removeOnComplete: { count: 1_000 },
      removeOnFail: { count: 5_000 },
    },
  },
);
await worker.waitUntilReady();
say({ msg: 'plain BullMQ listens on its queue' });
