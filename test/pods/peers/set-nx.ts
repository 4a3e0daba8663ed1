import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { serveSchedule } from './nest-schedule.js';
import { Report, say, told } from './report.js';

/** The lock that is found in most applications: taken when nobody has it, given back by whoever took it, gone after a while. */
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

const { redisUrl, prefix, lockMs } = told();
const report = new Report();
const redis = new Redis(redisUrl);
redis.on('error', ({ message }) => say({ event: 'redis_error', message }));
const key = `${prefix}:lock:report`;

await serveSchedule('@nestjs/schedule with SET NX', {
  async onInstant(instant) {
    const token = randomUUID();
    if ((await redis.set(key, token, 'PX', lockMs, 'NX')) === null) return;
    try {
      await report.make(instant);
    } finally {
      await redis.eval(RELEASE, 1, key, token);
    }
  },
  onStop() {
    redis.disconnect();
    report.close();
  },
});
