import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { request } from '../support/lease-requests.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';
import { tcpProxy } from '../support/tcp-proxy.js';
import type { TcpProxy } from '../support/tcp-proxy.js';

const TTL_MS = 1_500;
const COMMAND_TIMEOUT_MS = 150;

/** Nothing is closed and nothing arrives: what a pulled cable, a lost NAT entry or a dropped route look like. */
describe('a connection that is half open', () => {
  const space = { prefix: freshPrefix(), tenant: 't' };
  let proxy: TcpProxy;
  let redis: Redis;
  let direct: Redis;
  let far: RedisLeaseStore;
  let near: RedisLeaseStore;

  beforeEach(async () => {
    proxy = await tcpProxy(Number(new URL(testRedis()).port));
    redis = await connectRedis({ url: proxy.url, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' });
    direct = new Redis(testRedis());
    far = new RedisLeaseStore({ redis, ...space });
    near = new RedisLeaseStore({ redis: direct, ...space });
  });
  afterEach(async () => {
    await closeRedis(redis);
    await clearPrefixes(direct, [space.prefix]);
    await closeRedis(direct);
    await proxy.close();
  });

  it('makes commands time out, and the holder stop before the store lets the next one in', async () => {
    const keeper = new LeaseKeeper({ store: far });
    const held = await keeper.tryAcquire('r', { ttlMs: TTL_MS });
    if (!held.acquired) throw new Error('Expected to hold the lease.');
    const { lease } = held;
    const signal = 'signal' in held ? (held.signal as AbortSignal) : lease.signal;
    proxy.swallow();
    await expect(redis.ping()).rejects.toBeInstanceOf(Error);
    await once(signal, 'abort');
    expect(signal.reason).toBeInstanceOf(LeaseLostError);
    // On a busy machine the signal may come late, the deadline itself doesn't.
    expect(lease.trustedUntil - TTL_MS / 6).toBeLessThanOrEqual(performance.now());

    await expect.poll(async () => (await near.acquire(request())).acquired, { interval: 10 }).toBe(true);
    const [next] = await near.inspect(['r']);
    expect(next?.fence).toBeGreaterThan(lease.fence);
    proxy.heal();
    await expect.poll(() => far.renew([lease], TTL_MS).catch(() => 'away'), { timeout: 10_000 }).toEqual([false]);
    await keeper.releaseAll().catch(() => {});
  });

  it('is given up and opened anew, although nobody closes it', async () => {
    proxy.swallow();
    await expect(redis.ping()).rejects.toBeInstanceOf(Error);
    proxy.heal();
    await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 4_000 }).toBe('PONG');
  });

  it('does not bring an acquire to the store after whoever asked for it has given up', async () => {
    proxy.swallow();
    await expect(far.acquire(request())).rejects.toBeInstanceOf(Error);
    proxy.heal();
    await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 4_000 }).toBe('PONG');
    expect(await near.inspect(['r'])).toEqual([null]);
  });
});
