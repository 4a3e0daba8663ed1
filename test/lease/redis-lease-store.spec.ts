import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NO_FENCE, parseFence } from '@fencepost/lease';
import { redisKeys, RedisScript } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import type { HoldingsPage } from '@fencepost/lease/store';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { clearPrefixes, freshPrefix, testRedis, privateRedis, type PrivateRedis } from '../support/redis.js';

describe('the Redis lease store', () => {
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
      await new RedisLeaseStore({ redis, ...space }).acquire({
        ...term,
        holder: 'pod',
        ttlMs: 10_000,
        floor: NO_FENCE,
      });
      expect(await redis.pttl(key('r', 'lease'))).toBeGreaterThan(0);
      expect(await redis.pttl(key('r', 'fence'))).toBe(-1);
      await forget(space.prefix);
    });

    it('lists its own kind in its own space, in calls of which none looks at more keys than it was asked to', async () => {
      const space = { prefix: freshPrefix(), tenant: 'default' };
      const request = { nonce: 'n', holder: 'pod', ttlMs: 10_000, floor: NO_FENCE };
      const store = new RedisLeaseStore({ redis, ...space });
      await store.acquire({ ...request, resource: 'mine' });
      await new RedisLeaseStore({ redis, ...space, kind: 'cron' }).acquire({ ...request, resource: 'a-cron' });
      await new RedisLeaseStore({ redis, ...space, tenant: 'other' }).acquire({ ...request, resource: 'theirs' });
      const others = Array.from({ length: 500 }, (_, n) => [redisKeys(space)(`r${n}`, 'fence'), '1']).flat();
      await redis.mset(others);
      const scan = vi.spyOn(redis, 'scan');
      const names: string[] = [];
      let after: string | null = null;
      do {
        const page: HoldingsPage = await store.list(after, 50);
        names.push(...page.items.map(({ resource }) => resource));
        after = page.next;
      } while (after !== null);
      expect(names).toEqual(['mine']);
      expect(scan.mock.calls.length).toBeGreaterThan(9);
      expect(scan.mock.calls.every((words) => words.at(-1) === 50)).toBe(true);
      scan.mockRestore();
      await forget(space.prefix);
    });

    it('shows when a term began, by the clock of the server, and not by its fence', async () => {
      const space = { prefix: freshPrefix(), tenant: 'default' };
      const store = new RedisLeaseStore({ redis, ...space });
      const serverNow = async () => Number((await redis.time())[0]) * 1_000;
      const before = await serverNow();
      const floor = parseFence('8000000000000000');
      await store.acquire({ resource: 'r', nonce: 'n', holder: '42 is a holder', ttlMs: 10_000, floor });
      const [held] = await store.inspect(['r']);
      expect(held?.holder).toBe('42 is a holder');
      expect(held?.acquiredAt).toBeGreaterThanOrEqual(before);
      expect(held?.acquiredAt).toBeLessThan((await serverNow()) + 1_000);
      await forget(space.prefix);
    });

    it.each(['', 'x', '10.0.0.1:6379', '1 2 3'])('refuses the cursor %j, which no page had', async (cursor) => {
      const store = new RedisLeaseStore({ redis, prefix: freshPrefix(), tenant: 'default' });
      await expect(store.list(cursor, 10)).rejects.toThrow(RangeError);
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
  });
});

function script(): RedisScript {
  return new RedisScript('add', `-- ${freshPrefix()}\nreturn redis.call('INCRBY', KEYS[1], ARGV[1])`);
}

describe('RedisScript', () => {
  // A server of its own: the tests flush scripts and read the command counters.
  let server: PrivateRedis;

  let redis: Redis;

  beforeAll(async () => {
    server = await privateRedis();
    redis = new Redis(server.url);
  });

  afterAll(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  async function sent(command: string): Promise<number> {
    const stats = await redis.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  it('sends its text once per connection, and its hash from then on', async () => {
    const add = script();
    const before = [await sent('eval'), await sent('evalsha')] as const;
    for (let n = 0; n < 3; n++) await add.run(redis, ['once'], [1]);
    expect([await sent('eval'), await sent('evalsha')]).toEqual([before[0] + 1, before[1] + 2]);
  });

  it('leaves in one write with all else that is sent in the same turn, and holds nothing back after it', async () => {
    const add = script();
    await add.run(redis, ['corked'], [1]);
    const turn = Promise.all([add.run(redis, ['corked'], [1]), redis.get('corked'), add.run(redis, ['corked'], [1])]);
    expect(redis.stream).toMatchObject({ writableCorked: 1, bytesWritten: expect.any(Number) });
    expect(await turn).toEqual([2, '2', 3]);
    expect(redis.stream.writableCorked).toBe(0);
  });

  it('runs again by itself after the server has forgotten it, each of many calls once', async () => {
    const add = script();
    await add.run(redis, ['flushed'], [1]);
    await redis.script('FLUSH');
    await Promise.all(Array.from({ length: 200 }, () => add.run(redis, ['flushed'], [1])));
    expect(await redis.get('flushed')).toBe('201');
  });
});
