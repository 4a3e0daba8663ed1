import { Redis, Cluster } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisSemaphoreStore } from '@fencepost/lease/coordination';
import { redisChannel, redisKeys, type KeyBuilder } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { semaphoreStoreContract } from '../contracts/semaphore-store.contract.js';
import { TTL_MS, request, win } from '../support/lease-requests.js';
import { redisSemaphoreHarness } from './redis-semaphore.js';
import { clearPrefixes, freshPrefix, testRedis, privateRedis, type PrivateRedis } from '../support/redis.js';

describe('the Redis semaphore store', () => {
  let redis: Redis;

  beforeAll(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  });

  afterAll(() => closeRedis(redis));

  async function forget(prefix: string): Promise<void> {
    await clearPrefixes(redis, [prefix]);
  }

  async function harness(options: { readonly forgetAfterMs?: number } = {}) {
    const prefix = freshPrefix();
    return redisSemaphoreHarness({ redis, prefix, tenant: 'default', forget: () => forget(prefix), ...options });
  }

  semaphoreStoreContract('the Redis semaphore', harness);

  // As soon as may be: whatever is still needed then must not be forgotten.
  semaphoreStoreContract('the Redis semaphore that forgets', () => harness({ forgetAfterMs: 1 }));

  leaseStoreContract('the Redis semaphore with one place', harness);

  describe('the Redis semaphore', () => {
    let space: { prefix: string; tenant: string };
    let key: KeyBuilder;
    let store: RedisSemaphoreStore;

    beforeEach(() => {
      space = { prefix: freshPrefix(), tenant: 'default' };
      key = redisKeys(space);
      store = new RedisSemaphoreStore({ redis, ...space });
      return () => forget(space.prefix);
    });

    it('lets five of a hundred contenders on a hundred connections in, each with a fence of its own', async () => {
      const connections = Array.from({ length: 100 }, () => new Redis(testRedis(), { commandTimeout: 10_000 }));
      const replies = await Promise.all(
        connections.map((connection) =>
          new RedisSemaphoreStore({ redis: connection, ...space }).acquire(request({ places: 5 })),
        ),
      );
      await Promise.all(connections.map(closeRedis));
      const fences = replies.flatMap((reply) => (reply.acquired ? [reply.fence] : []));
      expect(fences).toHaveLength(5);
      expect(new Set(fences).size).toBe(5);
    });

    it('keeps terms until the longest of them is over, and the counter and the size for ever', async () => {
      await store.resize('r', 3);
      const long = await win(store, { ttlMs: 5 * TTL_MS });
      await win(store, { ttlMs: TTL_MS });
      expect(await redis.pttl(key('r', 'places'))).toBeGreaterThan(4 * TTL_MS);
      await store.renew([long], 9 * TTL_MS);
      expect(await redis.pttl(key('r', 'places'))).toBeGreaterThan(8 * TTL_MS);
      expect(await redis.pttl(key('r', 'places'))).toBeLessThanOrEqual(9 * TTL_MS);
      expect(await redis.pttl(key('r', 'places-fence'))).toBe(-1);
      expect(await redis.pttl(key('r', 'places-size'))).toBe(-1);
    });

    describe('that forgets', () => {
      let forgetful: RedisSemaphoreStore;
      beforeEach(() => {
        forgetful = new RedisSemaphoreStore({ redis, ...space, forgetAfterMs: 20 });
      });
      const keysGone = async () => {
        await expect.poll(() => redis.keys(`${space.prefix}:*`), { interval: 5, timeout: 5_000 }).toEqual([]);
      };

      it('leaves no key behind when nobody has asked for long, and goes on with a larger fence', async () => {
        const first = await win(forgetful, { ttlMs: 50 });
        expect(await forgetful.acquire(request({ ttlMs: 50, places: 2 }))).toMatchObject({ acquired: true });
        await keysGone();
        expect((await win(forgetful)).fence).toBeGreaterThan(first.fence);
      });

      it('keeps a fence that is ahead of the clock, whose successor would be smaller', async () => {
        const ahead = 8_000_000_000_000_000;
        await redis.set(key('r', 'places-fence'), `${ahead}`);
        await forgetful.release([await win(forgetful)]);
        expect(await redis.pttl(key('r', 'places-fence'))).toBe(-1);
        expect((await win(forgetful)).fence).toBe(ahead + 2);
      });

      it.each([0, -1, 1.5])('refuses to forget after %s ms', (forgetAfterMs) => {
        expect(() => new RedisSemaphoreStore({ redis, ...space, forgetAfterMs })).toThrow(RangeError);
      });
    });

    it('goes on with the fences of the leases of the same name', async () => {
      await redis.set(key('r', 'places-fence'), '8000000000000000');
      expect((await win(store)).fence).toBe(8_000_000_000_000_001);
    });

    it.each([
      ['the fence is no number', 'places-fence', /the stored fence has to be a whole number/],
      ['the size is no hash', 'places-size', /WRONGTYPE/],
      ['the places are no hash', 'places', /WRONGTYPE/],
    ])('fails without a trace when %s', async (_what, part, message) => {
      await redis.set(key('r', part), 'not a number');
      await expect(store.acquire(request())).rejects.toThrow(message);
      expect(await redis.keys(`${space.prefix}:*`)).toEqual([key('r', part)]);
    });

    it('wakes those who wait for its places, and not those who wait for a lease of the same name', async () => {
      const heard: { readonly channel: string; readonly resource: string }[] = [];
      const channel = redisChannel(space, 'released-places');
      const subscriber = redis.duplicate();
      subscriber.on('message', (from: string, resource: string) => heard.push({ channel: from, resource }));
      await subscriber.subscribe(redisChannel(space, 'released'), channel);
      await store.release([await win(store)]);
      await expect.poll(() => heard).toEqual([{ channel, resource: 'r' }]);
      await closeRedis(subscriber);
    });
  });
});

describe('the semaphore store on a Redis Cluster', () => {
  // One node with all slots: it refuses a script over two hash tags just as a large cluster does.
  let server: PrivateRedis;

  let cluster: Cluster;

  let node: Redis;

  beforeAll(async () => {
    server = await privateRedis({ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' });
    node = new Redis(server.url);
    await node.cluster('ADDSLOTSRANGE', 0, 16_383);
    await vi.waitFor(async () => expect(await node.cluster('INFO')).toContain('cluster_state:ok'), { timeout: 10_000 });
    cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
  });

  afterAll(async () => {
    await closeRedis(cluster);
    await closeRedis(node);
    await server.stop();
  });

  async function harness() {
    const forget = async () => void (await node.flushall());
    return redisSemaphoreHarness({ redis: cluster, prefix: freshPrefix(), tenant: 'default', forget });
  }

  semaphoreStoreContract('the Redis semaphore on a cluster', harness);

  leaseStoreContract('the Redis semaphore with one place on a cluster', harness);
});
