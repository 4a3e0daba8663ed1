import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearPrefixes, freshPrefix, testRedis } from '../../../../test/support/redis.js';
import { closeRedis, connectRedis } from '../redis/redis-connection.js';
import { RedisLeaseStore } from '../redis/redis-lease-store.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { Leases } from './leases.js';
import { TtlAdviser } from './ttl-adviser.js';

describe('the advice on leases in Redis', () => {
  let redis: Redis;

  beforeAll(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  });

  afterAll(() => closeRedis(redis));

  it('comes after a hundred holdings: a ttl of an hour is too long for work of milliseconds', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const told: LeaseEvent[] = [];
    const adviser = new TtlAdviser({ notify: (event) => void told.push(event) });
    const store = new RedisLeaseStore({ redis, ...space });
    await using leases = new Leases({ store, ttl: '1h', observe: adviser.observe });
    const work = async () => {
      for (let n = 0; n < 99; n += 1) await leases.using('cache:prices', {}, async () => {});
    };
    await work();
    expect([told, adviser.advice('cache:prices').verdict]).toEqual([[], 'too-few-samples']);
    await work();
    await clearPrefixes(redis, [space.prefix]);
    const { advisedTtlMs, holdMs, p999StoreMs, ...advice } = adviser.advice('cache:prices');
    expect(advice).toMatchObject({ about: 'cache:prices', samples: 198, ttlMs: 3_600_000, verdict: 'too-long' });
    expect(told).toEqual([expect.objectContaining({ name: 'lease.ttl-unfit', verdict: 'too-long', ttlMs: 3_600_000 })]);
    expect(advisedTtlMs!).toBeGreaterThan(holdMs.p999 + p999StoreMs);
  });
});
