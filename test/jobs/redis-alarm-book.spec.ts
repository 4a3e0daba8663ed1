import { RedisAlarmBook } from '../../libs/jobs/src/alarms/redis-alarm-book.js';
import { alarmBookContract } from '../contracts/alarm-book.contract.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

alarmBookContract('the Redis book', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return { book: new RedisAlarmBook({ redis, ...space }), now };
});
