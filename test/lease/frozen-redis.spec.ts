import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { privateRedis } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';

const TTL_MS = 1_200;
const COMMAND_TIMEOUT_MS = 200;

describe('a frozen Redis', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let store: RedisLeaseStore;

  beforeEach(async () => {
    server = await privateRedis();
    redis = await connectRedis({ url: server.url, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' });
    store = new RedisLeaseStore({ redis, prefix: 'p', tenant: 't' });
  });
  afterEach(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  it('hangs nobody: calls reject in bounded time', async () => {
    server.freeze();
    const sentAt = performance.now();
    await expect(store.renew([{ resource: 'r', nonce: 'n' }], TTL_MS)).rejects.toThrow('Command timed out');
    expect(performance.now() - sentAt).toBeLessThan(10 * COMMAND_TIMEOUT_MS);
  });

  it('makes the holder stop by itself before the lease ends, and the next one gets a larger fence', async () => {
    const keeper = new LeaseKeeper({ store });
    const attempt = await keeper.tryAcquire('r', { ttlMs: TTL_MS });
    if (!attempt.acquired) throw new Error('Expected to hold the lease.');
    const held = attempt.lease;
    server.freeze();
    await once(held.signal, 'abort');
    // Timers are late on a busy machine, never early: the deadline itself is what has to lie within the ttl.
    expect(held.trustedUntil - held.ttlMs / 6).toBeLessThanOrEqual(performance.now());
    expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(held.signal.reason).toMatchObject({ reason: 'expired' });
    server.thaw();
    await expect.poll(() => store.inspect(['r']).catch(() => 'away'), { timeout: 10_000 }).toEqual([null]);
    const next = await new LeaseKeeper({ store }).tryAcquire('r', { ttlMs: TTL_MS });
    if (!next.acquired) throw new Error('Expected to get the lease.');
    expect(next.lease.fence).toBeGreaterThan(held.fence);
    expect(await store.renew([held], TTL_MS)).toEqual([false]);
    expect(await next.lease.release()).toBe(true);
  });

  it('is closed in bounded time, although it never says goodbye', async () => {
    const other = await connectRedis({ url: server.url, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' });
    server.freeze();
    const startedAt = performance.now();
    await closeRedis(other);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
