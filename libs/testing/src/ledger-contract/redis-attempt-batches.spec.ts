import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FenceExhaustedError } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import type { BeginReply, Ledger } from '@fencepost/ledger';
import { RedisLedger } from '@fencepost/ledger/redis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { LONG_MS, Stage } from './stage.js';
import { privateRedis, type PrivateRedis } from '../../../../test/support/redis.js';
import { replyDroppingProxy } from '../../../../test/support/proxies.js';

const SPACE = { prefix: 'attempts', tenant: 'default' };

/** What a worker does in one turn of its event loop for many runs. */
describe('the attempts of one turn on the Redis ledger', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let stage: Stage;

  beforeAll(async () => {
    server = await privateRedis();
    redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
  });
  beforeEach(async () => {
    stage = await Stage.of(async () => ({
      ledger: new RedisLedger({ redis, ...SPACE }),
      cron: 'nightly-report',
      now: async () => Date.now(),
      advance: () => Promise.reject(new Error('Nothing has to pass here.')),
      clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
    }));
  });
  afterEach(() => redis.flushall());
  afterAll(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  /** Runs that somebody asked for, all of one cron. */
  async function asked(count: number) {
    const orders = Array.from({ length: count }, () => stage.order({ overlap: 'allow' }));
    await Promise.all(orders.map((order) => stage.ledger.trigger(order)));
    return orders.map(({ runId }) => stage.attempt(runId));
  }

  type Requests = Awaited<ReturnType<typeof asked>>;

  const beginAll = (requests: Requests, ledger: Ledger = stage.ledger) =>
    Promise.all(requests.map((request) => ledger.begin(request)));

  const fences = (replies: readonly BeginReply[]) =>
    replies.map((reply) => (reply.verdict === 'begun' ? Number(reply.fence) : reply.verdict));

  async function begunAttempts(count: number) {
    const requests = await asked(count);
    const replies = await beginAll(requests);
    return requests.map(({ runId, nonce }, n) => {
      const reply = replies[n];
      if (reply?.verdict !== 'begun') throw new Error(`Expected ${runId} to begin.`);
      return { runId, nonce, fence: reply.fence };
    });
  }

  async function scriptsDuring(act: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      const stats = await redis.info('commandstats');
      const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
      return calls.reduce((sum, [, some]) => sum + Number(some), 0);
    };
    const before = await count();
    await act();
    return (await count()) - before;
  }

  const kinds = (settled: readonly PromiseSettledResult<unknown>[]) => settled.map(({ status }) => status);

  it('are begun, kept alive and ended in one call per hundred of each', async () => {
    // The scripts are known from here on, so that each is sent once.
    const [first] = await begunAttempts(1);
    if (!first) throw new Error('Expected an attempt.');
    await stage.ledger.heartbeat(first, LONG_MS);
    await stage.ledger.finish(first, { kind: 'succeeded' });
    const requests = await asked(150);
    let replies: BeginReply[] = [];
    expect(await scriptsDuring(async () => (replies = await beginAll(requests)))).toBe(2);
    const refs = replies.map((reply, n) => {
      const { runId = '', nonce = '' } = requests[n] ?? {};
      return { runId, nonce, fence: reply.verdict === 'begun' ? reply.fence : first.fence };
    });
    const beat = () => Promise.all(refs.map((ref) => stage.ledger.heartbeat(ref, LONG_MS)));
    expect(await scriptsDuring(async () => expect(new Set(await beat())).toEqual(new Set(['extended'])))).toBe(2);
    const end = () => Promise.all(refs.map((ref) => stage.ledger.finish(ref, { kind: 'succeeded' })));
    expect(await scriptsDuring(async () => expect(new Set(await end())).toEqual(new Set(['succeeded'])))).toBe(2);
  });

  it('have a fence of their own each, and those of the next turn larger ones', async () => {
    const before = fences(await beginAll(await asked(30)));
    const after = fences(await beginAll(await asked(30)));
    const all = [...before, ...after].map(Number);
    expect(all.every((fence, n) => n === 0 || fence > (all[n - 1] ?? 0))).toBe(true);
    const counter = Number(await redis.hget(redisKeys(SPACE)('fences', 'ledger'), 'runFence'));
    expect(counter).toBeGreaterThanOrEqual(Math.max(...all));
  });

  it('get larger fences than every one before also when the counter is ahead of the clock', async () => {
    const ahead = Date.now() * 1_000 + 3_600_000_000;
    await redis.hset(redisKeys(SPACE)('fences', 'ledger'), 'runFence', ahead);
    expect(fences(await beginAll(await asked(3)))).toEqual([ahead + 1, ahead + 2, ahead + 3]);
    expect(fences(await beginAll(await asked(2)))).toEqual([ahead + 4, ahead + 5]);
  });

  it('get the last fence there is, and those behind it none', async () => {
    const requests = await asked(3);
    await redis.hset(redisKeys(SPACE)('fences', 'ledger'), 'runFence', '9007199254740990');
    const settled = await Promise.allSettled(requests.map((request) => stage.ledger.begin(request)));
    expect(settled).toMatchObject([
      { value: { fence: 2 ** 53 - 1 } },
      { reason: expect.any(FenceExhaustedError) },
      { reason: expect.any(FenceExhaustedError) },
    ]);
    expect(await stage.run(requests[1]?.runId ?? '')).toMatchObject({ state: 'claimed', attempt: 0 });
  });

  it('reject alone what is no request, and the run whose id makes no key', async () => {
    const [one, two, three] = await asked(3);
    if (!one || !two || !three) throw new Error('Expected three requests.');
    const settled = await Promise.allSettled(
      [one, { ...two, ttlMs: 0 }, { ...two, runId: 'no {key}@1' }, three].map((request) => stage.ledger.begin(request)),
    );
    expect(kinds(settled)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  });

  it('leave the neighbours of a run alone whose record is broken', async () => {
    const requests = await asked(3);
    const broken = redisKeys(SPACE)(stage.cron, `run:${requests[1]?.runId}`);
    await redis.del(broken);
    await redis.set(broken, 'no hash');
    const begun = await Promise.allSettled(requests.map((request) => stage.ledger.begin(request)));
    expect(kinds(begun)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(String((begun[1] as PromiseRejectedResult).reason)).toContain(`sound record of ${requests[1]?.runId}`);
    const refs = begun.map((one, n) => {
      const fence = one.status === 'fulfilled' && one.value.verdict === 'begun' ? one.value.fence : undefined;
      return { runId: requests[n]?.runId ?? '', nonce: requests[n]?.nonce ?? '', fence: fence as never };
    });
    refs[1] = { ...refs[1], fence: refs[0]?.fence } as (typeof refs)[number];
    const beats = await Promise.allSettled(refs.map((ref) => stage.ledger.heartbeat(ref, LONG_MS)));
    expect(kinds(beats)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const ends = await Promise.allSettled(refs.map((ref) => stage.ledger.finish(ref, { kind: 'succeeded' })));
    expect(ends.map((end) => end.status === 'fulfilled' && end.value)).toEqual(['succeeded', false, 'succeeded']);
  });

  it('are begun and ended once over a connection that loses replies', async () => {
    const proxy = await replyDroppingProxy(server.url);
    const lossy = await connectRedis({ url: proxy.url, commandTimeoutMs: 5_000, name: 'test' });
    const ledger = new RedisLedger({ redis: lossy, ...SPACE });
    const requests = await asked(20);
    proxy.dropNextReply();
    const begun = await beginAll(requests, ledger);
    expect(begun.map((reply) => reply.verdict === 'begun' && reply.attempt)).toEqual(requests.map(() => 1));
    expect(fences(await beginAll(requests))).toEqual(fences(begun));
    proxy.dropNextReply();
    const ends = await Promise.all(
      requests.map(({ runId, nonce }, n) => {
        const reply = begun[n];
        if (reply?.verdict !== 'begun') throw new Error(`Expected ${runId} to begin.`);
        return ledger.finish({ runId, nonce, fence: reply.fence }, { kind: 'succeeded' });
      }),
    );
    expect(ends).toEqual(requests.map(() => 'succeeded'));
    expect(proxy.dropped).toBe(2);
    await closeRedis(lossy);
    await proxy.close();
  });
});
