import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { TTL_MS, request, win } from '../support/lease-requests.js';
import { privateRedis } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';

describe('a Redis whose memory is full', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let store: RedisLeaseStore;

  beforeEach(async () => {
    server = await privateRedis();
    redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
    store = new RedisLeaseStore({ redis, prefix: 'p', tenant: 't' });
  });
  afterEach(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  it('grants nothing new and takes nothing away: held leases are renewed and released', async () => {
    const held = await win(store, { resource: 'held' });
    await redis.config('SET', 'maxmemory', '1');
    await expect(store.acquire(request({ resource: 'new' }))).rejects.toThrow('OOM');
    expect(await store.inspect(['new'])).toEqual([null]);
    expect(await store.renew([held], TTL_MS)).toEqual([true]);
    expect(await store.inspect(['held'])).toMatchObject([{ fence: held.fence }]);
    expect(await store.release([held])).toEqual([true]);
  });
});
