import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_FENCE } from '../base/fence.js';
import { StaleFenceError } from '../base/errors.js';
import { loadScripts } from './redis-script.js';
import { redisKeys } from '../store/keys.js';
import { NotReplicatedError } from './replicated-write.js';
import { RedisLeaseStore } from './redis-lease-store.js';
import { closeRedis, connectRedis } from './redis-connection.js';
import { RedisFencedRows } from '../sinks/redis-fenced-rows.js';
import { waitForReplicas } from './replicated-write.js';
import type { ReplicatedWrite } from './replicated-write.js';
import { TTL_MS, request, win } from '../../../../test/support/lease-requests.js';
import { recordedWarnings } from '../../../../test/support/recorded.js';
import { clearPrefixes, freshPrefix, privateRedis, testRedis } from '../../../../test/support/redis.js';
import type { PrivateRedis } from '../../../../test/support/redis.js';
import { tcpProxy } from '../../../../test/support/proxies.js';
import type { TcpProxy } from '../../../../test/support/proxies.js';
import { TEXTS } from '../lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['acquire-lease']);

const settings = { commandTimeoutMs: 5_000, name: 'test' };
const space = { prefix: 'p', tenant: 't' };
const key = redisKeys(space);

describe('a primary that is cut off from its replica', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  const warnings = recordedWarnings();
  let old: PrivateRedis;
  let link: TcpProxy;
  let replica: Redis;
  let replicaUrl: string;
  let first: Redis;

  beforeEach(async () => {
    const quick = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1' };
    old = await privateRedis(quick);
    link = await tcpProxy(old.port);
    const lagging = await privateRedis({ ...quick, replicaof: `127.0.0.1 ${link.port}` });
    replicaUrl = lagging.url;
    replica = new Redis(lagging.url);
    cleanUp.push(
      () => old.stop(),
      () => link.close(),
      () => lagging.stop(),
      () => closeRedis(replica),
    );
    first = await connected(old.url);
    await expect.poll(() => replica.info('replication'), { timeout: 10_000 }).toContain('master_link_status:up');
    await expect.poll(() => first.wait(1, 100)).toBe(1);
  });
  afterEach(async () => {
    for (const step of cleanUp.splice(0).toReversed()) await step();
  });

  async function connected(url: string): Promise<Redis> {
    const redis = await connectRedis({ ...settings, url, observe: warnings.observe });
    cleanUp.push(() => closeRedis(redis));
    return redis;
  }

  /** What sentinels or an operator do when they no longer hear of the primary. */
  async function promoted(): Promise<Redis> {
    await replica.replicaof('NO', 'ONE');
    return connected(replicaUrl);
  }

  it('acknowledges a lease that a failover loses: two hold it, and only the fence tells them apart', async () => {
    link.swallow();
    const mine = new RedisLeaseStore({ redis: first, ...space });
    const lost = await win(mine);
    const theirs = new RedisLeaseStore({ redis: await promoted(), ...space });
    const second = await win(theirs);

    // Both are told that they hold it. No store that replicates asynchronously can know better.
    expect(await mine.renew([lost], TTL_MS)).toEqual([true]);
    expect(await theirs.renew([second], TTL_MS)).toEqual([true]);
    expect(second.fence).toBeGreaterThan(lost.fence);

    const sink = await connected(testRedis());
    const sinkSpace = { prefix: freshPrefix(), tenant: 't' };
    const rows = new RedisFencedRows({ redis: sink, ...sinkSpace, table: 'accounts' });
    await rows.write({ row: 'r', value: 'of the second', fence: second.fence, idempotencyKey: 'b' });
    const stale = rows.write({ row: 'r', value: 'of the first', fence: lost.fence, idempotencyKey: 'a' });
    await expect(stale).rejects.toThrow(StaleFenceError);
    expect(await rows.read('r')).toBe('of the second');
    await clearPrefixes(sink, [sinkSpace.prefix]);
  });

  it('takes the lease back from its holder when the network heals, and the holder is told of the lost history', async () => {
    link.swallow();
    const mine = new RedisLeaseStore({ redis: first, ...space });
    const lost = await win(mine);
    const second = await win(new RedisLeaseStore({ redis: await promoted(), ...space }));
    await first.replicaof('127.0.0.1', new URL(replicaUrl).port);
    await expect.poll(() => first.info('replication'), { timeout: 10_000 }).toContain('master_link_status:up');

    expect(await mine.renew([lost], TTL_MS)).toEqual([false]);
    expect(await mine.inspect(['r'])).toMatchObject([{ fence: second.fence }]);
    const told = warnings.codes.length;
    // The first write that it refuses makes the connection look again who answers.
    await expect(first.set('x', 'y')).rejects.toThrow('READONLY');
    await expect.poll(() => warnings.codes.slice(told)).toEqual(expect.arrayContaining(['HISTORY_LOST', 'REPLICA']));
  });

  type Over = Partial<Pick<ReplicatedWrite, 'timeoutMs' | 'wrote'>> & { nonce?: string };

  function replicated(redis: Redis, { nonce: own, ...over }: Over = {}): Promise<unknown> {
    const { resource, nonce, holder, ttlMs } = request(own === undefined ? {} : { nonce: own });
    return waitForReplicas(redis, {
      script: SCRIPTS['acquire-lease'],
      keys: [key(resource, 'lease'), key(resource, 'fence')],
      args: [`${nonce} ${ttlMs} ${NO_FENCE} ${holder}`],
      replicas: 1,
      timeoutMs: 100,
      ...over,
    });
  }

  it('is found out by waiting for the replica: the acquire is refused, and the replica has never heard of it', async () => {
    link.swallow();
    await expect(replicated(first)).rejects.toThrow(NotReplicatedError);
    // Honest: a refused write is not undone.
    expect(await first.exists(key('r', 'lease'))).toBe(1);
    expect(await replica.exists(key('r', 'lease'))).toBe(0);
  });

  it('is what waiting rules out while the link works: then the replica has the lease', async () => {
    expect(await replicated(first, { timeoutMs: 4_000 })).toMatch(/^ACQUIRED \d+$/);
    expect(await replica.exists(key('r', 'lease'))).toBe(1);
  });

  it('is waited for by sessions too: neither one that no replica has counts, nor a term under one', async () => {
    const waiting = await connected(old.url);
    const replication = { redis: waiting, replicas: 1, timeoutMs: 1_000 };
    const store = new RedisLeaseStore({ redis: first, ...space, replication });
    const { sessions } = store;
    const session = { nonce: 'session', holder: 'pod/1', ttlMs: TTL_MS };
    const asked = [{ resource: 'r', nonce: 'n', floor: NO_FENCE }];
    await sessions.open(session);
    expect(await replica.exists(key('session', 'session'))).toBe(1);
    expect(await sessions.acquire(session, asked)).toMatchObject([{ acquired: true }]);
    expect(await replica.exists(key('r', 'lease'))).toBe(1);
    await store.release(asked);
    link.swallow();
    await expect(sessions.acquire(session, asked)).rejects.toThrow(NotReplicatedError);
    const more = [{ resource: 'more', nonce: 'm', floor: NO_FENCE }];
    await expect(sessions.acquire(session, more)).rejects.toThrow(NotReplicatedError);
    // Given back: the caller asked for a term that survives a failover.
    expect(await store.inspect(['r'])).toEqual([null]);
    await expect(sessions.open({ ...session, nonce: 'another' })).rejects.toThrow(NotReplicatedError);
  });

  it.each([{ replicas: 0 }, { timeoutMs: 0 }])('is not waited for without an end or a replica: %j', async (over) => {
    const write = { script: SCRIPTS['acquire-lease'], keys: [], args: [], replicas: 1, timeoutMs: 1, ...over };
    await expect(waitForReplicas(first, write)).rejects.toThrow(RangeError);
  });
});
