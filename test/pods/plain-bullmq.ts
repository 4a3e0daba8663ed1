import { channel } from 'node:diagnostics_channel';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * The same three effects as `crons/steps.ts`, in a worker as BullMQ's own documentation has it: no ledger, no fence. Writes
 * to a list, so that a repetition is seen and not refused.
 */
const { REDIS_URL = '', FENCEPOST_PREFIX: prefix = '' } = process.env;
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
const finished = channel('fencepost:effect.finished');

function tell(line: object): void {
  console.log(JSON.stringify(line));
}

const worker = new Worker(
  'plain',
  async () => {
    for (const effect of ['first', 'second', 'third']) {
      await redis.rpush(`${prefix}:plain-sink`, effect);
      tell({ event: 'effect_finished', effect });
      finished.publish({ effect });
    }
    tell({ event: 'handler_returned' });
  },
  { connection: redis, prefix: `{${prefix}}`, lockDuration: 1_000, stalledInterval: 500 },
);
worker.on('error', (error) => tell({ event: 'worker_error', error: error.message }));

process.once('SIGTERM', () => {
  void worker.close().then(() => redis.disconnect());
});

await worker.waitUntilReady();
tell({ msg: 'plain worker listens on its queue' });
