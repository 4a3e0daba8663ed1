import { createRequire } from 'node:module';
import { serve } from './child.mjs';

// The `cron` that @nestjs/schedule brings and calls: one timer for each.
const ofSchedule = createRequire(createRequire(import.meta.url).resolve('@nestjs/schedule'));
const { CronJob } = ofSchedule('cron');

/** What @nestjs/schedule does in one process: no queue, no other replica, nothing that survives it. */
await serve(async ({ count, expression }, record) => {
  const begun = process.cpuUsage();
  const jobs = Array.from({ length: count }, () => {
    const onTick = () => record(Math.round(Date.now() / 1_000) * 1_000);
    return CronJob.from({ cronTime: expression, onTick, start: true, timeZone: 'UTC' });
  });
  const { user, system } = process.cpuUsage(begun);
  return {
    boot: async () => (user + system) / 1_000,
    stop: async () => jobs.forEach((job) => job.stop()),
  };
});
