import { systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryLedger } from '../../libs/ledger/src/memory/memory-ledger.js';
import type { AttemptDeps } from '../../libs/jobs/src/running/delivery.js';
import { RunProcessor } from '../../libs/jobs/src/running/run.processor.js';
import { BullmqRunQueue } from '../../libs/jobs/src/queue/bullmq-run-queue.js';
import { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A queue, and a worker whose jobs end as `handlerOf` lets them: nothing was claimed, so nothing is carried out. */
async function queueWithWorker(handlerOf: AttemptDeps['handlerOf']): Promise<BullmqRunQueue> {
  const [redis, space, telemetry] = [spaces.redis(), spaces.fresh(), new Telemetry()];
  const own = redis.duplicate({ maxRetriesPerRequest: null });
  const runs = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  const ledger = new MemoryLedger(systemClock);
  const attempts = { ledger, clock: systemClock, telemetry, random: () => 0, worker: 'worker/1', ttlMs: 5_000 };
  const processor = new RunProcessor({
    ...{ redis: own, ...space, concurrency: 50, clock: systemClock, telemetry },
    attempts: { ...attempts, handlerOf },
  });
  await processor.start();
  closing.push(
    () => closeRedis(own),
    () => runs.close(),
    () => processor.stop(1_000),
  );
  return runs;
}

const ENDS: readonly ['completed' | 'failed', AttemptDeps['handlerOf']][] = [
  ['completed', () => undefined],
  [
    'failed',
    () => {
      throw new Error('no');
    },
  ],
];

describe('a processor', () => {
  it.each(ENDS)('keeps the last thousand of its %s jobs to be looked at', async (end, handlerOf) => {
    const runs = await queueWithWorker(handlerOf);
    const { queue } = runs;
    await runs.enqueue(Array.from({ length: 1_002 }, (_, n) => ({ runId: `c@${n}`, delivery: 1 })));
    await expect
      .poll(() => queue.getJobCounts('waiting', 'active'), { timeout: 60_000 })
      .toEqual({ waiting: 0, active: 0 });
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 0, failed: 0, [end]: 1_000 });
  });
});
