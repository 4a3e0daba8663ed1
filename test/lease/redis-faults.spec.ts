import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError, parseFence, systemClock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { privateRedis, type PrivateRedis, clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';
import { TTL_MS, request, win } from '../support/lease-requests.js';
import { tcpProxy, type TcpProxy, replyDroppingProxy, type ReplyDroppingProxy } from '../support/proxies.js';

const COMMAND_TIMEOUT_MS = 200;

describe('a frozen Redis', () => {
  const SHORT_TTL_MS = 1_200;
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
    await expect(store.renew([{ resource: 'r', nonce: 'n' }], SHORT_TTL_MS)).rejects.toThrow('Command timed out');
    expect(performance.now() - sentAt).toBeLessThan(10 * COMMAND_TIMEOUT_MS);
  });

  it('makes the holder stop by itself before the lease ends, and the next one gets a larger fence', async () => {
    const keeper = new LeaseKeeper({ store });
    const attempt = await keeper.tryAcquire('r', { ttlMs: SHORT_TTL_MS });
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
    const next = await new LeaseKeeper({ store }).tryAcquire('r', { ttlMs: SHORT_TTL_MS });
    if (!next.acquired) throw new Error('Expected to get the lease.');
    expect(next.lease.fence).toBeGreaterThan(held.fence);
    expect(await store.renew([held], SHORT_TTL_MS)).toEqual([false]);
    expect(await next.lease.release()).toBe(true);
  });
});

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

/** Nothing is closed and nothing arrives: what a pulled cable, a lost NAT entry or a dropped route look like. */
describe('a connection that is half open', () => {
  const LONG_TTL_MS = 1_500;
  const REPLY_TIMEOUT_MS = 150;

  const space = { prefix: freshPrefix(), tenant: 't' };
  let proxy: TcpProxy;
  let redis: Redis;
  let direct: Redis;
  let far: RedisLeaseStore;
  let near: RedisLeaseStore;

  beforeEach(async () => {
    proxy = await tcpProxy(Number(new URL(testRedis()).port));
    redis = await connectRedis({ url: proxy.url, commandTimeoutMs: REPLY_TIMEOUT_MS, name: 'test' });
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
    const held = await keeper.tryAcquire('r', { ttlMs: LONG_TTL_MS });
    if (!held.acquired) throw new Error('Expected to hold the lease.');
    const { lease } = held;
    const signal = 'signal' in held ? (held.signal as AbortSignal) : lease.signal;
    proxy.swallow();
    await expect(redis.ping()).rejects.toBeInstanceOf(Error);
    await once(signal, 'abort');
    expect(signal.reason).toBeInstanceOf(LeaseLostError);
    // On a busy machine the signal may come late, the deadline itself doesn't.
    expect(lease.trustedUntil - LONG_TTL_MS / 6).toBeLessThanOrEqual(performance.now());

    await expect.poll(async () => (await near.acquire(request())).acquired, { interval: 10 }).toBe(true);
    const [next] = await near.inspect(['r']);
    expect(next?.fence).toBeGreaterThan(lease.fence);
    proxy.heal();
    await expect.poll(() => far.renew([lease], LONG_TTL_MS).catch(() => 'away'), { timeout: 10_000 }).toEqual([false]);
    await keeper.releaseAll().catch(() => {});
  });

  it('is given up and opened anew, although nobody closes it', async () => {
    proxy.swallow();
    await expect(redis.ping()).rejects.toBeInstanceOf(Error);
    proxy.heal();
    await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 4_000 }).toBe('PONG');
  });

  it.each([
    ['', () => {}],
    [' with commands that do not tell whether they have settled, as in ioredis 5', forgetSettled],
  ])('does not bring an acquire to the store after whoever asked for it has given up%s', async (_as, change) => {
    change(redis);
    proxy.swallow();
    await expect(far.acquire(request())).rejects.toBeInstanceOf(Error);
    proxy.heal();
    await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 4_000 }).toBe('PONG');
    expect(await near.inspect(['r'])).toEqual([null]);
  });
});

function forgetSettled(redis: Redis): void {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    Reflect.deleteProperty(command, 'isSettled');
    return send(command, stream);
  };
}

describe('a lost reply', () => {
  /** Above the clock fences count one by one, so a second one would show. */
  const FLOOR = parseFence('8000000000000000');

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
