import { systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { RedisMembership } from '../membership/redis-membership.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import type { AttemptDeps } from './delivery.js';
import { RunProcessor } from './run.processor.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { FORMER_QUEUE } from '../queue/routing.js';

const spaces = redisSpaces();

const closing: (() => Promise<unknown>)[] = [];

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
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  it.each(ENDS)('keeps the last thousand of its %s jobs to be looked at', async (end, handlerOf) => {
    const runs = await queueWithWorker(handlerOf);
    const queue = runs.queues.named(FORMER_QUEUE);
    await runs.enqueue(Array.from({ length: 1_002 }, (_, n) => ({ runId: `c@${n}`, delivery: 1 })));
    await expect
      .poll(() => queue.getJobCounts('waiting', 'active'), { timeout: 60_000 })
      .toEqual({ waiting: 0, active: 0 });
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 0, failed: 0, [end]: 1_000 });
  });
});

const ORDER = { by: 'ada', reason: 'a test' };

const CRON = 'reports';

/** A cron made at run time that is never due within a test, in stores of their own. */
async function set() {
  const at = { redis: spaces.redis(), ...spaces.fresh() };
  const [catalog, ledger, membership] = [new RedisCatalog(at), new RedisLedger(at), new RedisMembership(at)];
  const queue = new BullmqRunQueue({ ...at, onTrouble: () => {} });
  closing.push(() => queue.close());
  const crons = new CronCatalog({ catalog, clock: systemClock });
  await crons.set(CRON, { expression: '0 0 1 1 *', handler: 'other', payload: { n: 1 } }, ORDER);
  return {
    operator: new CronOperator({ catalog, ledger, queue, membership, clock: systemClock }),
    crons,
    ledger,
    membership,
    queue,
  };
}

describe('an operator over Redis', () => {
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  it('lists, pauses, resumes, changes and removes', async () => {
    const { operator, crons } = await set();
    const pause = await operator.pause(CRON, ORDER);
    expect(await operator.list()).toMatchObject([
      { name: CRON, generation: 1, state: 'active', paused: pause, last: null },
    ]);
    expect(await operator.resume(CRON, { ...ORDER, missed: 'fire-once' })).toEqual({ ended: pause, runId: null });
    await crons.set(CRON, { expression: '@yearly' }, { ...ORDER, expected: 1 });
    await crons.remove(CRON, ORDER);
    expect(await operator.list()).toMatchObject([{ name: CRON, state: 'removed', paused: null, next: null }]);
    expect((await crons.get(CRON))?.past).toHaveLength(2);
  });
});
