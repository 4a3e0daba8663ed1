import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisMembership } from '../../libs/jobs/src/membership/redis-membership.js';
import { membershipContract } from '../contracts/membership.contract.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

membershipContract('the Redis membership', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const key = redisKeys(space);
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return {
    membership: new RedisMembership({ redis, ...space }),
    elsewhere: new RedisMembership({ redis, ...space }),
    now,
    change: async () => void (await redis.incr(key('catalog', 'version'))),
    heardAgo: async (pod, ms) => void (await redis.zadd(key('catalog', 'pods'), 'XX', (await now()) - ms, pod)),
    remembered: () => redis.zcard(key('catalog', 'pods')),
  };
});
