import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFence, type LeaseEvent } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';
import { fencedValuesContract } from '../contracts/fenced-values.contract.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

const OLD = parseFence('1787654321123456');
const NEW = parseFence('1787654321123457');
const DAY_MS = 86_400_000;

let redis: Redis;
beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
});
afterAll(() => closeRedis(redis));

async function forget(prefix: string): Promise<void> {
  await clearPrefixes(redis, [prefix]);
}

fencedValuesContract('Redis', async () => {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  const events: LeaseEvent[] = [];
  const values = new RedisFencedValues({
    redis,
    ...space,
    downstream: 'cache',
    observe: (event) => void events.push(event),
  });
  return {
    values,
    events,
    untilExpired: async (key) => {
      await expect.poll(() => values.get(key), { interval: 5, timeout: 5_000 }).toBeNull();
    },
    close: () => forget(space.prefix),
  };
});

describe('fenced values in Redis', () => {
  const opened = () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const key = redisKeys(space);
    return {
      ...space,
      values: new RedisFencedValues({ redis, ...space }),
      seenFor: () => redis.pttl(key('k', 'seen:values')),
      valueKey: key('k', 'value:values'),
    };
  };

  it('keep a fence for thirty days longer than its value', async () => {
    const { prefix, values, seenFor, valueKey } = opened();
    await values.set('k', 'v', { fence: OLD, ttlMs: DAY_MS });
    expect(await redis.pttl(valueKey)).toBeLessThanOrEqual(DAY_MS);
    expect(await seenFor()).toBeGreaterThan(30 * DAY_MS);
    await forget(prefix);
  });

  it('keep an admitted fence for thirty days, and never for less than it was kept before', async () => {
    const { prefix, values, seenFor } = opened();
    await values.admit('k', OLD);
    expect(await seenFor()).toBeGreaterThan(29 * DAY_MS);
    await values.set('k', 'v', { fence: OLD, ttlMs: DAY_MS });
    await values.admit('k', NEW);
    expect(await seenFor()).toBeGreaterThan(30 * DAY_MS);
    await forget(prefix);
  });

  it('keep the fence of a value without an end for ever, also when another one is admitted', async () => {
    const { prefix, values, seenFor } = opened();
    await values.set('k', 'v', { fence: OLD });
    expect(await seenFor()).toBe(-1);
    await values.admit('k', NEW);
    expect(await seenFor()).toBe(-1);
    await forget(prefix);
  });

  it('end with the largest of a hundred fences that race on ten connections', async () => {
    const { prefix, tenant } = opened();
    const connections = Array.from({ length: 10 }, () => redis.duplicate());
    const stores = connections.map((connection) => new RedisFencedValues({ redis: connection, prefix, tenant }));
    const fences = Array.from({ length: 100 }, (_, n) => parseFence(`${OLD + ((n * 37) % 100)}`));
    await Promise.allSettled(fences.map((fence, n) => stores[n % 10]!.set('k', `${fence}`, { fence })));
    const largest = Math.max(...fences);
    expect(await stores[0]!.get('k')).toMatchObject({ value: `${largest}`, fence: largest });
    await Promise.all(connections.map(closeRedis));
    await forget(prefix);
  });
});
