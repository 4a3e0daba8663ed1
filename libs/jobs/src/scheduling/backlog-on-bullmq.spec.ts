import { randomUUID } from 'node:crypto';
import { parseFence, systemClock } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterEach, expect, it } from 'vitest';
import { RedisLedger } from '@fencepost/ledger/redis';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { Schedules } from '../schedules/schedules.js';
import { Dispatcher } from './dispatcher.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Recovery } from './recovery.js';
import { Sweeper } from './sweeper.js';
import { privateRedis } from '../../../../test/support/redis.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { FORMER_QUEUE } from '../queue/routing.js';

const BACKLOG = 2_000;
const SWEEP_EVERY_MS = 2_000;
/** A hundred with each sweep would take twice as long. */
const WITHIN_MS = 20_000;
const LATE_MS = 1_000;

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A scheduler's sweep over the real stores, and the ledger that other crons claim in. */
function scheduler() {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const ledger = new RedisLedger({ redis, ...space, timing: { recoverMs: 1 } });
  const queue = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const [telemetry, clock] = [new Telemetry(), systemClock];
  const schedules = new Schedules({ clock, telemetry });
  const dispatcher = new Dispatcher({ ledger, queue, clock, telemetry, schedules, freshness: { knownAt: Infinity } });
  const recovery = new Recovery({ ledger, queue, dispatcher, telemetry, lookAgainMs: 600_000, keepRuns: 1_000 });
  const sweeper = new Sweeper({ recovery, clock, sweepEveryMs: SWEEP_EVERY_MS, owner: { compare: async () => {} } });
  closing.push(() => sweeper.stop());
  return { ledger, queue, sweeper, events: recordedEvents(telemetry) };
}

async function neverDelivered(ledger: RedisLedger, cron: string): Promise<void> {
  await ledger.trigger({
    ...{ runId: `${cron}@manual-${randomUUID()}`, nonce: randomUUID(), scheduledAt: null, reason: 'manual' },
    ...{ generation: 1, by: 'ada', payload: null, handler: null, missed: null, overlap: 'allow' },
  });
}

/** Claims an instant of another cron again and again until it is told to end; how long each took, ms. */
function claiming(ledger: RedisLedger) {
  const took: number[] = [];
  const over = new AbortController();
  const work = (async () => {
    for (let n = 1; !over.signal.aborted; n += 1) {
      const [at, askedAt] = [n * 1_000, performance.now()];
      const { verdict } = await ledger.claim({
        ...{ cron: 'other', fence: parseFence('1'), term: 't', holder: 's/1', generation: 1, nonce: randomUUID() },
        ...{ cursor: n === 1 ? null : at - 1_000, skips: [], overlap: 'allow' },
        occurrence: { scheduledAt: at, dueAt: at, reason: 'schedule', missed: null },
      });
      expect(verdict).toBe('claimed');
      took.push(performance.now() - askedAt);
    }
  })();
  return () => (over.abort(), work.then(() => took));
}

it('2,000 runs of one cron that the queue has lost are all delivered again in one go, while another cron claims at once', async () => {
  const { ledger, queue, sweeper, events } = scheduler();
  for (let n = 0; n < BACKLOG; n += 100) {
    await Promise.all(Array.from({ length: 100 }, () => neverDelivered(ledger, 'report')));
  }
  sweeper.watch('report');
  const end = claiming(ledger);
  sweeper.start();
  await expect
    .poll(() => queue.queues.named(FORMER_QUEUE).count(), { timeout: WITHIN_MS, interval: 200 })
    .toBe(BACKLOG);
  const took = await end();
  expect(new Set(events.of('run.redelivered').map(({ runId }) => runId)).size).toBe(BACKLOG);
  expect(took.length).toBeGreaterThan(10);
  expect(Math.max(...took)).toBeLessThan(LATE_MS);
}, 60_000);

it('deliveries that are not in the queue are found missing without a search of the jobs that wait', async () => {
  const server = await privateRedis({ 'maxmemory-policy': 'noeviction' });
  closing.push(() => server.stop());
  const redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
  closing.push(() => closeRedis(redis));
  const queue = new BullmqRunQueue({ redis, ...spaces.fresh(), onTrouble: () => {} });
  closing.push(() => queue.close());
  const job = (n: number) => ({ runId: `report@${n}`, delivery: 1 });
  await queue.enqueue([1, 2, 3].map(job));
  await redis.config('RESETSTAT');
  expect(await queue.holds([4, 5, 6].map(job))).toEqual([null, null, null]);
  expect(await redis.info('commandstats')).not.toMatch(/cmdstat_(lpos|lrange)/);
  expect(await queue.holds([3].map(job))).toEqual(['waiting']);
});
