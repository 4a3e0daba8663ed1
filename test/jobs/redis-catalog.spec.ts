import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisCatalog } from '../../libs/ledger/src/redis/redis-catalog.js';
import { catalogContract } from '../contracts/catalog.contract.js';
import { ZONE_DATA } from '../contracts/catalog/stage.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

catalogContract('the Redis catalog', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const key = (part: string) => redisKeys(space)('catalog', part);
  const tombstones = key('tombstones');
  return {
    catalog: new RedisCatalog({ redis, ...space, zoneData: ZONE_DATA }),
    elsewhere: new RedisCatalog({ redis, ...space, zoneData: ZONE_DATA }),
    now: async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
    age: async (ms) => {
      for (const name of await redis.zrange(tombstones, '0', '-1')) await redis.zincrby(tombstones, -ms, name);
    },
    wipe: async () => {
      await redis.del(await redis.keys(key('any').replace(/any$/, '*')));
    },
  };
});
