import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_FENCE } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

let redis: Redis;
beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
});
afterAll(() => closeRedis(redis));

async function forget(prefix: string): Promise<void> {
  await clearPrefixes(redis, [prefix]);
}

leaseStoreContract('the Redis store', async () => {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  const key = redisKeys(space);
  const store = new RedisLeaseStore({ redis, ...space });
  return {
    store,
    // Asked again and again rather than waited for once: the lease ends by the server's clock, not by this one.
    untilFree: async (resource) => {
      await expect.poll(() => store.inspect([resource]), { interval: 5, timeout: 5_000 }).toEqual([null]);
    },
    clockGoesBack: async (resource, ms) => {
      const left = await redis.pttl(key(resource, 'lease'));
      await redis.pexpire(key(resource, 'lease'), left + ms);
    },
    lose: () => forget(space.prefix),
    close: () => forget(space.prefix),
  };
});

describe('the Redis store', () => {
  it('lets one of a hundred contenders on a hundred connections win', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const connections = Array.from({ length: 100 }, () => new Redis(testRedis(), { commandTimeout: 10_000 }));
    const replies = await Promise.all(
      connections.map((connection, n) =>
        new RedisLeaseStore({ redis: connection, ...space }).acquire({
          resource: 'r',
          nonce: `n${n}`,
          holder: `pod/${n}`,
          ttlMs: 10_000,
          floor: NO_FENCE,
        }),
      ),
    );
    await Promise.all(connections.map(closeRedis));
    await forget(space.prefix);
    expect(replies.filter(({ acquired }) => acquired)).toHaveLength(1);
  });

  it('keeps the fence counter for ever and the lease only for its term', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const key = redisKeys(space);
    const term = { resource: 'r', nonce: 'n' };
    await new RedisLeaseStore({ redis, ...space }).acquire({ ...term, holder: 'pod', ttlMs: 10_000, floor: NO_FENCE });
    expect(await redis.pttl(key('r', 'lease'))).toBeGreaterThan(0);
    expect(await redis.pttl(key('r', 'fence'))).toBe(-1);
    await forget(space.prefix);
  });

  it('fails without a trace when a key holds something else', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const key = redisKeys(space);
    await redis.set(key('r', 'fence'), 'not a number');
    const store = new RedisLeaseStore({ redis, ...space });
    const request = { resource: 'r', nonce: 'n', holder: 'pod', ttlMs: 10_000, floor: NO_FENCE };
    await expect(store.acquire(request)).rejects.toThrow(/the stored fence has to be a whole number/);
    expect(await redis.exists(key('r', 'lease'))).toBe(0);
    await forget(space.prefix);
  });

  it('costs its own lease alone when a key holds something else, and a thousand are asked for', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const store = new RedisLeaseStore({ redis, ...space });
    await redis.lpush(redisKeys(space)('b', 'lease'), 'a stranger');
    const warned: string[] = [];
    const warn = ({ message }: Error) => void warned.push(message);
    process.on('warning', warn);
    const asked = ['a', 'b', 'c'].map((resource) => ({ resource, nonce: resource, holder: 'pod/1', ttlMs: 10_000 }));
    const replies = await store.acquireMany(asked.map((request) => ({ ...request, floor: NO_FENCE })));
    expect(replies.map(({ acquired }) => acquired)).toEqual([true, false, true]);
    await expect.poll(() => warned).toEqual([expect.stringContaining('The lease of b can not be read')]);
    process.off('warning', warn);
    await forget(space.prefix);
  });

  it('leaves no connection behind when a watch ends', async () => {
    const store = new RedisLeaseStore({ redis, prefix: freshPrefix(), tenant: 'default' });
    const name = `watch-${freshPrefix()}`;
    await redis.client('SETNAME', name);
    const count = async () => String(await redis.client('LIST')).split(`name=${name}`).length - 1;
    redis.options.connectionName = name;
    const stop = await store.watchReleases(() => {});
    expect(await count()).toBe(2);
    await stop();
    await expect.poll(count).toBe(1);
  });
});
