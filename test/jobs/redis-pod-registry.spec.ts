import { RedisPodRegistry } from '@fencepost/jobs/internal';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { describe, expect, it } from 'vitest';
import { card, POD_GONE_MS, podRegistryContract } from '../contracts/pod-registry.contract.js';
import { privateRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

podRegistryContract('the Redis pod registry', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const key = (part: string) => redisKeys(space)('catalog', `pod-${part}`);
  const declared = new Map<string, string>();
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return {
    registry: new RedisPodRegistry({ redis, ...space }),
    elsewhere: new RedisPodRegistry({ redis, ...space }),
    now,
    heardAgo: async (pod, ms) => {
      const at = (await now()) - ms;
      const [revision = ''] = (await redis.hget(key('states'), pod))?.split('\n') ?? [declared.get(pod)];
      declared.set(pod, revision);
      for (const part of ['times', 'heard']) await redis.zadd(key(part), 'XX', at, pod);
      if (revision !== '') await redis.zadd(key('revisions'), 'XX', at, revision);
      await redis.hset(key('registry'), 'born', at, 'reported', at);
    },
    remembered: async () => {
      const maps = await Promise.all(['cards', 'states'].map((part) => redis.hlen(key(part))));
      const sets = await Promise.all(['times', 'heard'].map((part) => redis.zcard(key(part))));
      return Math.max(...maps, ...sets);
    },
    wipe: async () => void (await redis.del(...(await redis.keys(`${space.prefix}:*`)))),
  };
});

describe('the Redis pod registry', () => {
  const worker = card('a/1', { roles: ['worker'], revision: 1, handlers: ['a'] });

  function registryOn(space: ReturnType<typeof spaces.fresh>) {
    const redis = spaces.redis();
    const key = (part: string) => redisKeys(space)('catalog', `pod-${part}`);
    return { redis, key, registry: new RedisPodRegistry({ redis, ...space }) };
  }

  it('leaves no pod behind when the last one is killed, and its revision for a week', async () => {
    const { redis, key, registry } = registryOn(spaces.fresh());
    await registry.report(worker);
    const parts = ['cards', 'times', 'states', 'heard', 'revisions', 'registry'];
    const left = await Promise.all(parts.map((part) => redis.pttl(key(part))));
    const WEEK_MS = 7 * 24 * 3_600_000;
    for (const [n, ms] of [...[POD_GONE_MS, POD_GONE_MS, POD_GONE_MS, POD_GONE_MS], WEEK_MS, WEEK_MS].entries()) {
      expect(left[n]).toBeGreaterThan(ms - 5_000);
      expect(left[n]).toBeLessThanOrEqual(ms + 5_000);
    }
  });

  it('leaves no pod behind that joined right after the last one had left', async () => {
    const { redis, key, registry } = registryOn(spaces.fresh());
    await registry.report(card('s/1'));
    await registry.leave('s/1');
    await registry.report({ ...worker, revision: null });
    await registry.report(worker);
    for (const part of ['cards', 'times', 'states', 'heard', 'revisions', 'registry']) {
      expect(await redis.pttl(key(part))).toBeGreaterThan(0);
    }
  });

  it('forgets revisions after a week, once there is a new one', async () => {
    const { redis, key, registry } = registryOn(spaces.fresh());
    const { now } = await registry.report(worker);
    await redis.zadd(key('revisions'), Math.floor(now) - 7 * 24 * 3_600_000, '1 @shop/reports');
    await registry.report({ ...worker, revision: 2 });
    expect(await redis.zrange(key('revisions'), '0', '-1')).toEqual(['2 @shop/reports']);
  });

  it('gives its keys their end again after a clock went back', async () => {
    const { redis, key, registry } = registryOn(spaces.fresh());
    const { now } = await registry.report(worker);
    await redis.hset(key('registry'), 'tidied', Math.floor(now) + 3_600_000);
    await redis.persist(key('cards'));
    await registry.report(worker);
    expect(await redis.pttl(key('cards'))).toBeGreaterThan(0);
  });

  it('costs ten commands inside Redis', async () => {
    const server = await privateRedis();
    const redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
    const registry = new RedisPodRegistry({ redis, prefix: 'p', tenant: 't' });
    await registry.report(worker);
    const processed = async () => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
    const costs: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const before = await processed();
      await registry.report(worker);
      // Without the one that asks.
      costs.push((await processed()) - before - 1);
    }
    // The one who watches the server may ask it in between.
    expect(Math.min(...costs)).toBeLessThanOrEqual(10);
    await closeRedis(redis);
    await server.stop();
  });

  it('keeps all it has in the slot of the catalog', async () => {
    const space = spaces.fresh();
    const { redis, registry } = registryOn(space);
    await registry.report(worker);
    const keys = await redis.keys(`${space.prefix}:*`);
    expect(keys).toHaveLength(6);
    const tagOf = (name: string) => /\{.*?\}/.exec(name)?.[0];
    expect(new Set(keys.map(tagOf))).toEqual(new Set([tagOf(redisKeys(space)('catalog', 'crons'))]));
  });

  it('writes an unreadable card anew with the next report of its pod', async () => {
    const { redis, key, registry } = registryOn(spaces.fresh());
    await registry.report(worker);
    await registry.report(worker);
    for (const broken of ['{', 'null', '"a"', '{"pod":"a/1"}']) {
      await redis.hset(key('cards'), 'a/1', broken);
      expect(await registry.list()).toEqual([]);
      await registry.report(worker);
      expect(await registry.list()).toMatchObject([worker]);
    }
  });

  describe('beside pods of a former build', () => {
    const { revision: _revision, ...rest } = card('f/1', { roles: ['worker'], handlers: ['a'], lagMs: 4 });
    const former = { ...rest, buildSeq: 1_700_000_000_000 };

    /** As a former build does it. */
    async function reportFormer(redis: RedisClient, key: (part: string) => string, at: number) {
      await redis.hset(key('cards'), 'f/1', JSON.stringify(former));
      await redis.zadd(key('times'), at, 'f/1');
      for (const gone of await redis.zrangebyscore(key('times'), '-inf', at - POD_GONE_MS)) {
        await redis.zrem(key('times'), gone);
        await redis.hdel(key('cards'), gone);
      }
    }

    it('lists them as pods that declare no revision', async () => {
      const { redis, key, registry } = registryOn(spaces.fresh());
      const { now } = await registry.report(worker);
      await reportFormer(redis, key, Math.floor(now));
      const [first, found] = await registry.list();
      expect(first).toMatchObject(worker);
      expect(found).toEqual({ ...rest, revision: null, seenAt: Math.floor(now) });
    });

    it('removes them when they are gone', async () => {
      const { redis, key, registry } = registryOn(spaces.fresh());
      const { now } = await registry.report(worker);
      await reportFormer(redis, key, Math.floor(now) - POD_GONE_MS);
      await redis.zadd(key('times'), now, 'a/1');
      await registry.report(card('b/2'));
      expect((await redis.hkeys(key('cards'))).toSorted()).toEqual(['a/1', 'b/2']);
    });

    it('gives them whole cards', async () => {
      const { redis, key, registry } = registryOn(spaces.fresh());
      await registry.report(worker);
      await registry.report({ ...worker, held: 9 });
      expect(JSON.parse((await redis.hget(key('cards'), 'a/1')) ?? '')).toEqual({ ...worker, buildSeq: null });
    });

    it('notices a pod that they have removed, and forgets it', async () => {
      const { redis, key, registry } = registryOn(spaces.fresh());
      await registry.report(worker);
      const { now, change } = await registry.report(card('b/2'));
      const at = Math.floor(now);
      for (const part of ['times', 'heard']) await redis.zadd(key(part), at - POD_GONE_MS, 'a/1');
      await reportFormer(redis, key, at);
      expect((await registry.report(card('b/2'))).change).not.toBe(change);
      expect([await redis.hlen(key('states')), await redis.zcard(key('heard'))]).toEqual([1, 1]);
    });
  });
});
