import 'reflect-metadata';
import { Redis } from 'ioredis';
import Redlock from 'redlock5';
import { serveSchedule } from './nest-schedule.js';
import { Report, say, told } from './report.js';

/**
 * redlock 5 as its README has it: `using`, which extends the lock by itself, and a look at the signal before the write.
 * Who doesn't get the lock at once leaves the instant to who has it.
 */
const { redisUrl, prefix, lockMs } = told();
const report = new Report();
const redis = new Redis(redisUrl);
redis.on('error', ({ message }) => say({ event: 'redis_error', message }));
const redlock = new Redlock([redis], { retryCount: 0, automaticExtensionThreshold: lockMs / 4 });
// It tells each vote against it, also that somebody else has the lock.
redlock.on('error', () => {});

await serveSchedule('@nestjs/schedule with redlock', {
  async onInstant(instant) {
    await redlock.using([`${prefix}:lock:report`], lockMs, async (signal) => {
      await report.make(instant, () => {
        if (signal.aborted) throw signal.error ?? new Error('The lock could not be extended.');
      });
    });
  },
  onStop() {
    redis.disconnect();
    report.close();
  },
});
