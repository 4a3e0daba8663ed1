import { Cluster, type Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { commandTimeoutOf, copyOf, workerCopyOf } from '@fencepost/jobs/internal';
import { testRedis } from '../support/redis.js';
import { tcpProxy, type TcpProxy } from '../support/proxies.js';

/** A worker fetches for at most so long, and hears nothing meanwhile. */
const MAX_FETCH_MS = 10_000;

describe('a copy of the connection to one server', () => {
  let proxy: TcpProxy;
  let redis: Redis;
  const copies: RedisClient[] = [];

  beforeAll(async () => {
    proxy = await tcpProxy(Number(new URL(testRedis()).port));
    redis = await connectRedis({ url: proxy.url, commandTimeoutMs: 400, name: 'test' });
  });
  afterEach(async () => {
    await Promise.all(copies.splice(0).map(closeRedis));
  });
  afterAll(async () => {
    await closeRedis(redis);
    await proxy.close();
  });

  function kept<C extends RedisClient>(copy: C): C {
    copy.on('error', () => {});
    copies.push(copy);
    return copy;
  }

  it('has a name and a time limit of its own, and leaves those of the first one as they are', async () => {
    const copy = kept(copyOf(redis, { name: 'test-copy', commandTimeoutMs: 900, patienceMs: 1_800 })) as Redis;
    expect(await copy.client('GETNAME')).toBe('test-copy');
    expect([commandTimeoutOf(copy), commandTimeoutOf(redis)]).toEqual([900, 400]);
  });

  it('is made anew when it fell silent, so that it ends up where the server is now', async () => {
    const copy = kept(copyOf(redis, { name: 'test-copy', commandTimeoutMs: 300, patienceMs: 600 }));
    expect(await copy.ping()).toBe('PONG');
    proxy.swallow();
    await expect(copy.ping()).rejects.toThrow('timed out');
    proxy.heal();
    await expect.poll(() => copy.ping().catch(() => 'away'), { timeout: 10_000 }).toBe('PONG');
  });

  it('lets a worker wait for jobs in silence, on a copy of its own', () => {
    const blocking = kept((workerCopyOf(redis) as Redis).duplicate({ connectionName: 'b', lazyConnect: true }));
    expect(blocking.options.connectionName).toBe('b');
    expect(blocking.options.socketTimeout).toBeGreaterThan(MAX_FETCH_MS);
    expect(blocking.options.commandTimeout).toBeGreaterThan(MAX_FETCH_MS);
    expect(blocking.options.maxRetriesPerRequest).toBeNull();
  });
});

describe('a copy of the connection to a cluster', () => {
  it('has a name and a time limit of its own for the nodes', () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
    const options = { name: 'copy', commandTimeoutMs: 2_000, patienceMs: 4_000, isLazy: true };
    const copy = copyOf(cluster, options) as Cluster;
    expect(copy.options.redisOptions).toMatchObject({ connectionName: 'copy', commandTimeout: 2_000 });
  });
});
