import { createHash, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { parseFence, systemClock } from '@fencepost/lease';
import { RedisSemaphoreStore } from '@fencepost/lease/coordination';
import { closeRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import type { RunContext } from './run-context.js';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Limits } from './delivery.js';
import { RunProcessor } from './run.processor.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { FORMER_QUEUE } from '../queue/routing.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const CRON = 'mail';
const AT = Date.UTC(2026, 0, 1);
const RETRY = { attempts: 1, delayMs: 0, maxDelayMs: 0 };
const TTL_MS = 2_000;

/** What the store knows of this customer. */
const ADA = createHash('sha256').update('ada').digest('hex').slice(0, 32);

const customerOf = (payload: unknown) => (payload as { readonly customer: string }).customer;

type Space = ReturnType<typeof spaces.fresh>;

/** What the handlers of all workers saw: how many went on at once with each key, and when each began. */
class Book {
  readonly most: Record<string, number> = {};
  readonly begun: { readonly runId: string; readonly at: number }[] = [];
  readonly #going: Record<string, number> = {};

  /** A handler that goes on for a moment. */
  readonly handle = async ({ id, payload }: RunContext): Promise<void> => {
    this.begun.push({ runId: id, at: performance.now() });
    const customer = customerOf(payload);
    const going = (this.#going[customer] = (this.#going[customer] ?? 0) + 1);
    this.most[customer] = Math.max(going, this.most[customer] ?? 0);
    // Work that takes some round trips.
    for (let n = 0; n < 30; n += 1) await spaces.redis().ping();
    this.#going[customer] = (this.#going[customer] ?? 0) - 1;
  };
}

async function worker(space: Space, name: string, handler: { handle: Book['handle']; limits: Limits }) {
  const redis = spaces.redis().duplicate({ maxRetriesPerRequest: null });
  const telemetry = new Telemetry();
  const ledger = new RedisLedger({ redis: spaces.redis(), ...space });
  const processor = new RunProcessor({
    ...{ redis, ...space, concurrency: 8, clock: systemClock, telemetry },
    attempts: {
      ...{ ledger, clock: systemClock, telemetry, random: Math.random, worker: name, ttlMs: TTL_MS },
      handlerOf: (cron) => (cron === CRON ? { ...handler, retry: RETRY } : undefined),
    },
  });
  const events = recordedEvents(telemetry);
  await processor.start();
  closing.push(async () => {
    await processor.stop(5_000);
    await closeRedis(redis);
  });
  return Object.assign(events, { stop: () => processor.stop(0) });
}

async function queueOf(space: Space): Promise<(customers: readonly string[]) => Promise<string[]>> {
  const [redis, ledger] = [spaces.redis(), new RedisLedger({ redis: spaces.redis(), ...space })];
  const queue = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  let n = 0;
  return async (customers) => {
    const runIds: string[] = [];
    for (const customer of customers) {
      const scheduledAt = AT + (n += 1) * 1_000;
      const reply = await ledger.claim({
        ...{ cron: CRON, fence: parseFence('1'), term: 't', holder: 's/1', generation: 1, nonce: randomUUID() },
        ...{ cursor: (await ledger.readCron(CRON)).cursor, skips: [], overlap: 'allow' },
        ...{ occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null } },
        payload: JSON.stringify({ customer }),
      });
      if (reply.verdict === 'claimed') runIds.push(reply.runId);
    }
    await queue.queues.named(FORMER_QUEUE).pause();
    await queue.enqueue(runIds.map((runId) => ({ runId, delivery: 1 })));
    await ledger.confirm(runIds);
    await queue.queues.named(FORMER_QUEUE).resume();
    return runIds;
  };
}

const ended = async (space: Space, runIds: readonly string[]) => {
  const ledger = new RedisLedger({ redis: spaces.redis(), ...space });
  const runs = await Promise.all(runIds.map((id) => ledger.readRun(id)));
  return runs.filter((run) => run?.state === 'succeeded').length;
};

describe('the limits of two workers', () => {
  it('let no more runs of a key go on at once than may, and all of them in the end', async () => {
    const [space, book] = [spaces.fresh(), new Book()];
    const limits: Limits = { key: customerOf, perKey: 2 };
    await worker(space, 'worker/1', { handle: book.handle, limits });
    await worker(space, 'worker/2', { handle: book.handle, limits });
    const ask = await queueOf(space);
    const runIds = await ask(Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? 'ada' : 'bob')));
    await expect.poll(() => ended(space, runIds), { timeout: 15_000 }).toBe(24);
    expect(Math.max(...Object.values(book.most))).toBeLessThanOrEqual(2);
    expect(book.begun).toHaveLength(24);
  });

  it('let no more runs begin in any span of time than may', async () => {
    const [space, book] = [spaces.fresh(), new Book()];
    const limits: Limits = { rate: { max: 3, perMs: 400 } };
    await worker(space, 'worker/1', { handle: book.handle, limits });
    await worker(space, 'worker/2', { handle: book.handle, limits });
    const ask = await queueOf(space);
    const runIds = await ask(Array.from({ length: 9 }, () => 'ada'));
    await expect.poll(() => ended(space, runIds), { timeout: 15_000 }).toBe(9);
    const ledger = new RedisLedger({ redis: spaces.redis(), ...space });
    const runs = await Promise.all(runIds.map((id) => ledger.readRun(id)));
    // By the store's clock, which counts for all workers.
    const began = runs.map((run) => run?.startedAt ?? 0).toSorted((a, b) => a - b);
    const spans = began.slice(3).map((at, index) => at - (began[index] ?? 0));
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(399);
  });

  it('leave its place to a run that hangs when its worker stops', async () => {
    const space = spaces.fresh();
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const one = await worker(space, 'worker/1', { handle: () => gate, limits: { key: customerOf } });
    const ask = await queueOf(space);
    await ask(['ada']);
    await expect.poll(() => one.of('attempt.begun').length).toBe(1);
    await one.stop();
    const store = new RedisSemaphoreStore({ redis: spaces.redis(), ...space, kind: 'cron' });
    expect(await store.holders(`job:${CRON}:${ADA}`)).toMatchObject([{ holder: 'worker/1' }]);
    goOn();
    await expect.poll(() => store.holders(`job:${CRON}:${ADA}`)).toEqual([]);
  });
});
