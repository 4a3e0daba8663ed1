import type { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Leases } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { leaseMetrics } from '@fencepost/lease/metrics';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

describe('the metrics of leases in Redis', () => {
  let redis: Redis;

  beforeAll(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  });

  afterAll(() => closeRedis(redis));

  let registry: Registry;

  let ours: Leases;

  let theirs: Leases;

  let space: { prefix: string; tenant: string };

  beforeEach(() => {
    registry = new Registry();
    space = { prefix: freshPrefix(), tenant: 'default' };
    const observe = leaseMetrics({ registry, typesAtMost: 3 });
    ours = new Leases({ store: new RedisLeaseStore({ redis, ...space }), observe });
    theirs = new Leases({ store: new RedisLeaseStore({ redis, ...space }) });
    return async () => {
      await ours.close();
      await theirs.close();
      await clearPrefixes(redis, [space.prefix]);
    };
  });

  const held = async (resource: string) => (await ours.tryAcquire(resource))!;

  const endsInRedis = (resource: string) => redis.del(redisKeys(space)(resource, 'lease'));

  async function counted(part: string): Promise<string[]> {
    return (await registry.metrics())
      .split('\n')
      .filter((line) => !line.startsWith('#') && line.includes(part) && !line.endsWith(' 0'));
  }

  it('tell what was granted, refused, renewed, given back, lost, and given back too late', async () => {
    const [first, second, third] = [await held('job:1'), await held('job:2'), await held('job:3')];
    await theirs.tryAcquire('job:4');
    await ours.tryAcquire('job:4');
    await endsInRedis('job:2');
    await endsInRedis('job:3');
    await ours.renewMany([first, second]);
    await first.release();
    await third.release();
    const counters = (await counted('_total{')).filter((line) => line.startsWith('fencepost_'));
    expect(counters.toSorted()).toEqual(
      [
        'fencepost_lease_acquire_total{resource_type="job",outcome="acquired"} 3',
        'fencepost_lease_acquire_total{resource_type="job",outcome="busy"} 1',
        'fencepost_lease_release_total{resource_type="job",outcome="released"} 1',
        'fencepost_lease_release_total{resource_type="job",outcome="stale"} 1',
        'fencepost_lease_extend_total{resource_type="job",outcome="extended"} 1',
        'fencepost_lease_extend_total{resource_type="job",outcome="refused"} 1',
        'fencepost_lease_lost_total{resource_type="job",reason="refused"} 1',
        'fencepost_lease_stale_release_total{resource_type="job"} 1',
        'fencepost_lease_contention_total{resource_type="job"} 1',
        'fencepost_lease_expired_without_release_total{resource_type="job"} 2',
      ].toSorted(),
    );
    expect(await counted('hold_time_ms_count')).toEqual(['redis_lease_hold_time_ms_count{resource_type="job"} 3']);
    expect(await counted('latency_ms_count')).toEqual(['redis_lease_acquire_latency_ms_count{resource_type="job"} 4']);
  });
});
