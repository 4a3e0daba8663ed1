import { randomUUID } from 'node:crypto';
import { Worker } from 'bullmq';
import { parseFence, systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { RedisLedger } from '../../libs/ledger/src/redis/redis-ledger.js';
import { BullmqRunQueue, QUEUE_NAME, queuePrefix } from '../../libs/jobs/src/queue/bullmq-run-queue.js';
import { Dispatcher } from '../../libs/jobs/src/scheduling/dispatcher.js';
import { Recovery } from '../../libs/jobs/src/scheduling/recovery.js';
import { Schedules } from '../../libs/jobs/src/schedules/schedules.js';
import { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import { redisSpaces } from '../jobs/redis-space.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const CRON = 'nightly-report';
const AT = Date.UTC(2026, 0, 1);
const RUN = `${CRON}@${AT}`;
const NOTHING: ReadonlySet<string> = new Set();

/** A run of a cron that another one waits for, enqueued on a real queue, and the scheduler's recovery. */
async function blocking() {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const ledger = new RedisLedger({ redis, ...space });
  const queue = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const [telemetry, clock] = [new Telemetry(), systemClock];
  const schedules = new Schedules({ clock, telemetry });
  const dispatcher = new Dispatcher({ ledger, queue, clock, telemetry, schedules, freshness: { knownAt: Infinity } });
  const recovery = new Recovery({ ledger, queue, dispatcher, telemetry, lookAgainMs: 30_000, keepRuns: 1_000 });
  await ledger.claim({
    ...{ cron: CRON, fence: parseFence('1'), term: 't', holder: 's/1', generation: 1, nonce: randomUUID() },
    ...{ cursor: null, skips: [], overlap: 'skip' },
    occurrence: { scheduledAt: AT, dueAt: AT, reason: 'schedule', missed: null },
  });
  await dispatcher.deliver([{ runId: RUN, delivery: 1 }]);
  const jobs = async () => new Set((await queue.queue.getJobs()).map(({ id }) => id));
  return { space, queue, recovery, jobs };
}

/** Takes the job as BullMQ's worker does, and is gone: no lock is renewed, no attempt begins. */
async function dieWithJob(space: Awaited<ReturnType<typeof blocking>>['space']): Promise<void> {
  const connection = spaces.redis().duplicate({ maxRetriesPerRequest: null });
  const taking = new Worker(QUEUE_NAME, null, { connection, prefix: queuePrefix(space) });
  expect(await taking.getNextJob('token')).toMatchObject({ id: RUN });
  await taking.close(true);
  await closeRedis(connection);
}

describe('on BullMQ, a run that blocks its cron', () => {
  it('is delivered again at the first look when its job was deleted', async () => {
    const { queue, recovery, jobs } = await blocking();
    await queue.queue.obliterate({ force: true });
    expect(await recovery.unblock(CRON, NOTHING)).toEqual(new Set());
    expect(await jobs()).toEqual(new Set([`${RUN}-d2`]));
  });

  it('is delivered again at the second look when its job is active under a worker that is gone', async () => {
    const { space, recovery, jobs } = await blocking();
    await dieWithJob(space);
    const taken = await recovery.unblock(CRON, NOTHING);
    expect([await jobs(), taken.size]).toEqual([new Set([RUN]), 1]);
    expect(await recovery.unblock(CRON, taken)).toEqual(new Set());
    expect(await jobs()).toEqual(new Set([RUN, `${RUN}-d2`]));
  });

  it('is left alone for as long as its job waits', async () => {
    const { recovery, jobs } = await blocking();
    for (let look = 0; look < 3; look += 1) expect(await recovery.unblock(CRON, NOTHING)).toEqual(new Set());
    expect(await jobs()).toEqual(new Set([RUN]));
  });
});
