import { redisKeys } from '@fencepost/lease/internal/redis';
import { describe, expect, it } from 'vitest';
import { POD_GONE_MS } from '../../libs/operations/src/pods/pod-registry.js';
import { RedisPodRegistry } from '../../libs/operations/src/pods/redis-pod-registry.js';
import { card, podRegistryContract } from '../contracts/pod-registry.contract.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

podRegistryContract('the Redis pod registry', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const [cards, times] = [redisKeys(space)('catalog', 'pod-cards'), redisKeys(space)('catalog', 'pod-times')];
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return {
    registry: new RedisPodRegistry({ redis, ...space }),
    elsewhere: new RedisPodRegistry({ redis, ...space }),
    now,
    heardAgo: async (pod, ms) => void (await redis.zadd(times, 'XX', (await now()) - ms, pod)),
    remembered: async () => Math.max(await redis.hlen(cards), await redis.zcard(times)),
  };
});

describe('the Redis pod registry', () => {
  it('leaves nothing behind when the last pod is killed', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    await new RedisPodRegistry({ redis, ...space }).report(card('a/1'));
    const keys = await redis.keys(`${space.prefix}:*`);
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      const left = await redis.pttl(key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(POD_GONE_MS);
    }
  });
});
