import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/** BullMQ alone: a job scheduler for each expression, and one worker for the queue of the app. */
const { app, crons, redis: url, prefix } = JSON.parse(process.argv[2]);
const runs = [];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const own = { connection: redis, prefix: `{${prefix}:bare}` };

const worker = new Worker(
  app,
  async ({ name: cron, id }) => {
    // repeat:<cron>:<instant>
    const scheduledAt = Number(id.slice(id.lastIndexOf(':') + 1));
    runs.push({ cron, scheduledAt, lateMs: Date.now() - scheduledAt });
  },
  own,
);
await worker.waitUntilReady();
const queue = new Queue(app, own);
for (const [cron, pattern] of Object.entries(crons))
  await queue.upsertJobScheduler(cron, { pattern, tz: 'UTC' }, { name: cron });

async function end() {
  await worker.close();
  await queue.close();
  await redis.quit();
  process.exit();
}

process.on('disconnect', () => process.exit());
process.on('message', (order) => {
  if (order === 'runs') process.send(runs.splice(0));
  else void end();
});
process.send('ready');
