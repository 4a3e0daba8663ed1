import { Member } from './crew.mjs';

/** Three scheduler pods and one worker of ours. */
export async function fencepost({ redis, prefix, count, expression, pods = 3 }) {
  const worker = await Member.start('fencepost', { role: 'worker', redis, prefix, pod: 'worker', count, expression });
  const schedulers = await Promise.all(
    Array.from({ length: pods }, (_, n) =>
      Member.start('fencepost', { role: 'scheduler', redis, prefix, pod: `scheduler-${n}` }),
    ),
  );
  return { workers: [worker], schedulers, end: () => endAll([worker, ...schedulers]) };
}

/** One pod that is scheduler and worker. */
export async function both({ redis, prefix, count, expression }) {
  const role = 'scheduler,worker';
  const pod = await Member.start('fencepost', { role, redis, prefix, pod: 'both', count, expression });
  return { workers: [pod], schedulers: [], end: () => endAll([pod]) };
}

/** Job Schedulers, and the worker that re-arms them. */
export async function bullmq({ redis, prefix, count, expression }) {
  const worker = await Member.start('bullmq', { redis, prefix });
  await worker.ask('schedules', { count, expression });
  return { workers: [worker], schedulers: [], end: () => endAll([worker]) };
}

/** A timer, `addBulk` and a bare worker: no lease, no record, no second replica. What is left to a scheduler on BullMQ. */
export async function bare({ redis, prefix, count, seconds }) {
  const worker = await Member.start('bullmq', { redis, prefix });
  const scheduler = await Member.start('bullmq', { redis, prefix });
  await worker.ask('work');
  await scheduler.ask('ticks', { count, seconds });
  return { workers: [worker], schedulers: [scheduler], end: () => endAll([worker, scheduler]) };
}

export async function nestSchedule({ count, expression }) {
  const worker = await Member.start('nest-schedule', { count, expression });
  return { workers: [worker], schedulers: [], end: () => endAll([worker]) };
}

async function endAll(members) {
  await Promise.all(members.map((member) => member.ask('stop').catch(() => {})));
  await Promise.all(members.map((member) => member.end()));
}
