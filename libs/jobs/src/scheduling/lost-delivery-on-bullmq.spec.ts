import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { Worker } from 'bullmq';
import { parseFence, systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import { RedisLedger } from '@fencepost/ledger/redis';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { queuePrefix } from '../queue/run-queues.js';
import { Schedules } from '../schedules/schedules.js';
import { Dispatcher } from './dispatcher.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { CRON, SchedulerStage, START, type StageOptions } from '../../../../test/support/scheduler-stage.js';
import { Recovery } from './recovery.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { FORMER_QUEUE } from '../queue/routing.js';

const at = (second: number) => START + second * 1_000;

/** From the first instant that is blocked to the next delivery. */
const BOUND_MS = 2_000;

const stops: (() => Promise<void>)[] = [];

describe('a lost delivery holds its cron for seconds', () => {
  const RUN = `${CRON}@${at(1)}`;

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  /** A pod that holds a cron of each second, whose first run has been enqueued. */
  async function firing(overlap: OverlapPolicy, options: StageOptions = {}) {
    const stage = new SchedulerStage(options);
    const { engine, events } = stage.pod();
    engine.hold([{ ...stage.heldCron(1, stage.scheduled({ overlap })), known: false }]);
    stops.push(async () => {
      await engine.stop();
      expect(stage.clock.pending).toBe(0);
    });
    await stage.clock.advance(1_000);
    expect(stage.memoryQueue.taken).toMatchObject([{ runId: RUN }]);
    const deliveries = () =>
      stage.memoryQueue.taken.filter(({ runId }) => runId === RUN).map(({ delivery }) => delivery);
    /** As an idle worker would, had it the job. */
    const begin = () =>
      stage.memoryLedger.begin({ runId: RUN, nonce: 'n', worker: 'w/1', ttlMs: 60_000, maxAttempts: 3 });
    return { stage, engine, events, deliveries, begin };
  }

  describe('a run that blocks its successor and that no worker has begun', () => {
    it.each(['skip', 'queue-all'] as const)(
      'is delivered again within 2 s of its first blocked successor when the queue has lost its job (overlap "%s")',
      async (overlap) => {
        const { stage, deliveries, events } = await firing(overlap);
        stage.memoryQueue.wipe();
        await stage.clock.advance(1_000 + BOUND_MS);
        expect(deliveries()).toEqual([1, 2]);
        expect(events.of('run.redelivered').find(({ runId }) => runId === RUN)).toMatchObject({ was: 'enqueued' });
      },
    );

    it('is delivered again within 2 s when the worker that has its job is gone', async () => {
      const { stage, deliveries } = await firing('skip', { work: () => new Promise(() => {}) });
      await stage.clock.advance(1_000 + BOUND_MS);
      expect(deliveries()).toEqual([1, 2]);
    });

    it('is left alone while its job waits in the queue, however many successors it blocks', async () => {
      const { stage, deliveries } = await firing('skip');
      await stage.clock.advance(20_000);
      expect(deliveries()).toEqual([1]);
    });

    it('is found although the ledger does not answer the first look', async () => {
      const { stage, deliveries, events } = await firing('skip');
      stage.memoryQueue.wipe();
      stage.ledger.next('unstarted', 'fail');
      await stage.clock.advance(1_000 + 2 * BOUND_MS);
      expect(deliveries()).toEqual([1, 2]);
      expect(events.of('store.failed')).toMatchObject([{ operation: 'cron.unblock', cron: CRON }]);
    });
  });

  describe('what this costs', () => {
    it('asks about a blocked cron once a second, and not any more once it is held by another pod', async () => {
      const { stage, engine } = await firing('skip');
      const asked = () => stage.ledger.calls.filter((call) => call === 'unstarted').length;
      await stage.clock.advance(10_000);
      expect(asked()).toBeGreaterThanOrEqual(8);
      expect(asked()).toBeLessThanOrEqual(11);
      await engine.letGo([engine.held(CRON)!]);
      const before = asked();
      await stage.clock.advance(10_000);
      expect(asked()).toBe(before);
    });
  });
});

const closing: (() => Promise<unknown>)[] = [];

describe('on BullMQ, a run that blocks its cron', () => {
  const NIGHTLY = 'nightly-report';

  const AT = Date.UTC(2026, 0, 1);

  const RUN = `${NIGHTLY}@${AT}`;

  const NOTHING: ReadonlySet<string> = new Set();

  const spaces = redisSpaces();

  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

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
      ...{ cron: NIGHTLY, fence: parseFence('1'), term: 't', holder: 's/1', generation: 1, nonce: randomUUID() },
      ...{ cursor: null, skips: [], overlap: 'skip' },
      occurrence: { scheduledAt: AT, dueAt: AT, reason: 'schedule', missed: null },
    });
    await dispatcher.deliver([{ runId: RUN, delivery: 1 }]);
    const jobs = async () => new Set((await queue.queues.named(FORMER_QUEUE).getJobs()).map(({ id }) => id));
    return { space, queue, recovery, jobs };
  }

  /** Takes the job as BullMQ's worker does, and is gone: no lock is renewed, no attempt begins. */
  async function dieWithJob(space: Awaited<ReturnType<typeof blocking>>['space']): Promise<void> {
    const connection = spaces.redis().duplicate({ maxRetriesPerRequest: null });
    const taking = new Worker(FORMER_QUEUE, null, { connection, prefix: queuePrefix(space) });
    expect(await taking.getNextJob('token')).toMatchObject({ id: RUN });
    await taking.close(true);
    await closeRedis(connection);
  }

  it('is delivered again at the first look when its job was deleted', async () => {
    const { queue, recovery, jobs } = await blocking();
    await queue.queues.named(FORMER_QUEUE).obliterate({ force: true });
    expect(await recovery.unblock(NIGHTLY, NOTHING)).toEqual(new Set());
    expect(await jobs()).toEqual(new Set([`${RUN}-d2`]));
  });

  it('is delivered again at the second look when its job is active under a worker that is gone', async () => {
    const { space, recovery, jobs } = await blocking();
    await dieWithJob(space);
    const taken = await recovery.unblock(NIGHTLY, NOTHING);
    expect([await jobs(), taken.size]).toEqual([new Set([RUN]), 1]);
    expect(await recovery.unblock(NIGHTLY, taken)).toEqual(new Set());
    expect(await jobs()).toEqual(new Set([RUN, `${RUN}-d2`]));
  });
});
