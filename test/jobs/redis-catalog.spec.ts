import { RedisCatalog } from '../../libs/jobs/src/catalog/redis-catalog.js';
import { catalogContract } from '../contracts/catalog.contract.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

catalogContract('the Redis catalog', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  return {
    catalog: new RedisCatalog({ redis, ...space }),
    elsewhere: new RedisCatalog({ redis, ...space }),
    now: async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
  };
});
