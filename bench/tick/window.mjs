import { redisCpuUs } from './redis-cost.mjs';
import { quantile } from '../lease/statistics.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Watches a window that begins and ends between two seconds, so that every instant is in it wholly or not at all.
 * @param {{ redis, seconds: number, workers: readonly Member[], schedulers?: readonly Member[] }} what
 */
export async function watch({ redis, seconds, workers, schedulers = [] }) {
  await sleep(untilHalf());
  await Promise.all([...workers, ...schedulers].map((member) => member.ask('mark')));
  const from = Date.now();
  const before = await redisCpuUs(redis);
  await sleep(seconds * 1_000 - (Date.now() - from));
  const spent = (await redisCpuUs(redis)) - before;
  const told = await Promise.all(workers.map((member) => member.ask('take')));
  const planned = await Promise.all(schedulers.map((member) => member.ask('take')));
  const late = told.flatMap((one) => one.late);
  return {
    from: Math.ceil(from / 1_000) * 1_000,
    to: Math.ceil(Date.now() / 1_000) * 1_000,
    late,
    ran: late.length,
    p50: quantile(late, 0.5) ?? NaN,
    p99: quantile(late, 0.99) ?? NaN,
    schedulerUs: sum(planned) / late.length,
    nodeUs: (sum(planned) + sum(told)) / late.length,
    redisUs: spent / late.length,
  };
}

/** Milliseconds until the middle of a second. */
function untilHalf() {
  return (1_500 - (Date.now() % 1_000)) % 1_000;
}

function sum(told) {
  return told.reduce((total, { cpuUs }) => total + cpuUs, 0);
}

/** Until `count` handlers a second have run, and at least for `leastS` seconds: everything is held, declared and compiled. */
export async function settled({ workers, count, leastS = 4, patienceS = 60 }) {
  for (let n = 1; n < patienceS; n += 1) {
    await Promise.all(workers.map((member) => member.ask('mark')));
    await sleep(1_000);
    const told = await Promise.all(workers.map((member) => member.ask('take')));
    if (n >= leastS && told.reduce((total, { late }) => total + late.length, 0) >= count * 0.9) return true;
  }
  return false;
}
