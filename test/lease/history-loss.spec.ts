import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_FENCE, type Fence } from '@fencepost/lease';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { privateRedis } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';

describe('the fence goes on increasing', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let store: RedisLeaseStore;
  let nonce = 0;

  beforeEach(async () => {
    server = await privateRedis();
    redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
    store = new RedisLeaseStore({ redis, prefix: 'p', tenant: 't' });
  });
  afterEach(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  async function win(): Promise<Fence> {
    nonce += 1;
    const reply = await store.acquire({
      resource: 'r',
      nonce: `n${nonce}`,
      holder: 'pod',
      ttlMs: 10_000,
      floor: NO_FENCE,
    });
    if (!reply.acquired) throw new Error('Expected to win.');
    return reply.fence;
  }

  it('after somebody flushed the server', async () => {
    const before = await win();
    await redis.flushall();
    expect(await win()).toBeGreaterThan(before);
  });

  it('after the server was restarted without its data, on the connection that was open before', async () => {
    const before = await win();
    await server.restartEmpty();
    expect(await win()).toBeGreaterThan(before);
  });

  it('so that the earlier holder is refused', async () => {
    await win();
    await redis.flushall();
    await win();
    expect(await store.renew([{ resource: 'r', nonce: `n${nonce - 1}` }], 10_000)).toEqual([false]);
  });
});
