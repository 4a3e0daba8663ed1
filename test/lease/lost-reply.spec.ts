import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFence, systemClock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { replyDroppingProxy } from '../support/reply-dropping-proxy.js';
import type { ReplyDroppingProxy } from '../support/reply-dropping-proxy.js';
import { freshPrefix, testRedis } from '../support/redis.js';

/** Above the clock fences count one by one, so a second one would show. */
const FLOOR = parseFence('8000000000000000');

describe('a lost reply', () => {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  const key = redisKeys(space);
  let proxy: ReplyDroppingProxy;
  let direct: Redis;
  let redis: Redis | undefined;

  beforeEach(async () => {
    proxy = await replyDroppingProxy(testRedis());
    direct = new Redis(testRedis());
  });
  afterEach(async () => {
    if (redis) await closeRedis(redis);
    await direct.del(key('r', 'lease'), key('r', 'fence'));
    await closeRedis(direct);
    await proxy.close();
  });

  it('costs neither the lease nor a fence, because the connection asks again with the same nonce', async () => {
    redis = await connectRedis({ url: proxy.url, commandTimeoutMs: 5_000, name: 'test' });
    const store = new RedisLeaseStore({ redis, ...space });
    proxy.dropNextReply();
    const reply = await store.acquire({ resource: 'r', nonce: 'n', holder: 'pod', ttlMs: 10_000, floor: FLOOR });
    expect(proxy.dropped).toBe(1);
    expect(reply).toEqual({ acquired: true, fence: FLOOR + 1 });
    expect(await direct.get(key('r', 'fence'))).toBe(`${FLOOR + 1}`);
  });

  it('costs neither the lease nor a fence on a connection that never sends twice, because the keeper does', async () => {
    redis = new Redis(proxy.url, { commandTimeout: 5_000, autoResendUnfulfilledCommands: false });
    redis.on('error', () => {});
    await redis.ping();
    // Without re-sending, an interrupted command waits for its timeout; failing at once is what a keeper sees otherwise.
    redis.options.maxRetriesPerRequest = 0;
    const keeper = new LeaseKeeper({ store: new RedisLeaseStore({ redis, ...space }), clock: systemClock });
    proxy.dropNextReply();
    const attempt = await keeper.tryAcquire('r', { ttlMs: 10_000, floor: FLOOR });
    expect(proxy.dropped).toBe(1);
    expect(attempt).toMatchObject({ acquired: true, lease: { fence: FLOOR + 1 } });
    expect(await direct.get(key('r', 'fence'))).toBe(`${FLOOR + 1}`);
    expect(await keeper.releaseAll()).toBe(1);
  });
});
