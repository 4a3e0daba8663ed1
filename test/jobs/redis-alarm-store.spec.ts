import { RedisAlarmStore } from '../../libs/operations/src/alarms/redis-alarm-store.js';
import { alarmStoreContract } from '../contracts/alarm-store.contract.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

alarmStoreContract('the Redis book', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return { store: new RedisAlarmStore({ redis, ...space }), now };
});
