import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_FENCE, type Fence, systemClock } from '@fencepost/lease';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { recordedWarnings } from '../support/recorded.js';
import { tcpProxy } from '../support/proxies.js';

describe('the fence goes on increasing', () => {
  let restarted: PrivateRedis;
  let redis: Redis;
  let store: RedisLeaseStore;
  let nonce = 0;

  beforeEach(async () => {
    restarted = await privateRedis();
    redis = await connectRedis({ url: restarted.url, commandTimeoutMs: 5_000, name: 'test' });
    store = new RedisLeaseStore({ redis, prefix: 'p', tenant: 't' });
  });
  afterEach(async () => {
    await closeRedis(redis);
    await restarted.stop();
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
    await restarted.restartEmpty();
    expect(await win()).toBeGreaterThan(before);
  });

  it('so that the earlier holder is refused', async () => {
    await win();
    await redis.flushall();
    await win();
    expect(await store.renew([{ resource: 'r', nonce: `n${nonce - 1}` }], 10_000)).toEqual([false]);
  });
});

const cleanUp: (() => unknown)[] = [];

async function server(settings: Record<string, string> = {}) {
  const started = await privateRedis(settings);
  cleanUp.push(() => started.stop());
  return started;
}

async function connected(url: string) {
  const warnings = recordedWarnings();
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const redis = await connectRedis({ url, commandTimeoutMs: 2_000, name: 'test', observe: warnings.observe, clock });
  cleanUp.push(() => closeRedis(redis));
  return { redis, warnings, turnClock: (ms: number) => void (aheadMs = ms) };
}

/** The connection is broken off, comes back, and has been looked at: a second look would come after the first. */
async function reconnected(redis: Redis): Promise<void> {
  const ready = new Promise((resolve) => redis.once('ready', resolve));
  redis.disconnect(true);
  await ready;
}

describe('a change of history', () => {
  afterEach(async () => {
    for (const step of cleanUp.splice(0).toReversed()) await step();
  });

  it('is told after a restart without data', async () => {
    const started = await server();
    const { warnings } = await connected(started.url);
    await started.restartEmpty();
    await expect.poll(() => warnings.codes, { timeout: 4_000 }).toEqual(['NO_PERSISTENCE', 'HISTORY_LOST']);
    expect(warnings.messages[1]).toContain(`Expected the history of before at ${started.url}, found another one`);
  });

  it('is told when a replica answers in the place of its primary', async () => {
    const primary = await server({ appendonly: 'yes', 'repl-diskless-sync-delay': '0' });
    const replica = await server({ appendonly: 'yes', replicaof: `127.0.0.1 ${primary.port}` });
    const proxy = await tcpProxy(primary.port);
    cleanUp.push(() => proxy.close());
    const promoted = new Redis(replica.url);
    cleanUp.push(() => closeRedis(promoted));
    await expect.poll(() => promoted.info('replication'), { timeout: 10_000 }).toContain('master_link_status:up');
    const { redis, warnings } = await connected(proxy.url);
    await promoted.replicaof('NO', 'ONE');
    proxy.retarget(replica.port);
    await reconnected(redis);
    await expect.poll(() => warnings.codes).toContain('HISTORY_LOST');
    expect(warnings.messages.at(-1)).toContain('found one that branched off it');
  });

  it('is not claimed after a mere interruption, but a clock that has gone wrong meanwhile is', async () => {
    const { url } = await server({ appendonly: 'yes' });
    const { redis, warnings, turnClock } = await connected(url);
    await reconnected(redis);
    turnClock(5_000);
    await reconnected(redis);
    await expect.poll(() => warnings.codes).toEqual(['CLOCK_SKEW']);
  });
});
