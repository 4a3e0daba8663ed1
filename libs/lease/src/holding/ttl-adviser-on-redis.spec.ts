import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearPrefixes, freshPrefix, testRedis } from '../../../../test/support/redis.js';
import { closeRedis, connectRedis } from '../redis/redis-connection.js';
import { RedisLeaseStore } from '../redis/redis-lease-store.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { Leases } from './leases.js';

describe('the advice on leases in Redis', () => {
  let redis: Redis;

  beforeAll(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  });

  afterAll(() => closeRedis(redis));

  it('comes after a hundred holdings: a ttl of an hour is too long for work of milliseconds', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const unfit: LeaseEvent[] = [];
    const store = new RedisLeaseStore({ redis, ...space });
    const observe = (event: LeaseEvent) => void (event.name === 'lease.ttl-unfit' && unfit.push(event));
    await using leases = new Leases({ store, ttl: '1h', observe });
    const work = async () => {
      for (let n = 0; n < 99; n += 1) await leases.using('cache:prices', {}, async () => {});
    };
    await work();
    expect([unfit, leases.ttlAdvice('cache:prices').verdict]).toEqual([[], 'too-few-samples']);
    await work();
    await clearPrefixes(redis, [space.prefix]);
    const { advisedTtlMs, holdMs, p999StoreMs, ...advice } = leases.ttlAdvice('cache:prices');
    expect(advice).toMatchObject({ about: 'cache:prices', samples: 198, ttlMs: 3_600_000, verdict: 'too-long' });
    expect(unfit).toEqual([expect.objectContaining({ verdict: 'too-long', ttlMs: 3_600_000 })]);
    expect(advisedTtlMs!).toBeGreaterThan(holdMs.p999 + p999StoreMs);
  });
});
