import { parseSchedule } from '@fencepost/schedule';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { DueIndex } from '../../libs/jobs/dist/scheduling/due-index.js';
import { Member } from './crew.mjs';

const EVERY_SECOND = '* * * * * *';
const NOON = Date.UTC(2030, 0, 1, 12);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What one timer for all of them costs, against a timer for each; and 100,000 crons in one pod. */
export async function timers(bench) {
  const count = bench.quick ? 200 : 10_000;
  const crons = bench.quick ? 1_000 : 100_000;
  const perFire = dueIndexUs(count);
  const theirs = await timerEachUs(count, bench.seconds);
  const pod = await onePod(bench, crons);
  return {
    ours: { usPerFire: perFire, crons, ...pod },
    peers: { 'cron (of @nestjs/schedule)': theirs },
    claims: [
      { name: 'µs per fire in the due index', measured: shown(perFire), atMost: 2, holds: perFire <= 2 },
      { name: 'heap of one pod, MB', measured: shown(pod.heapMB), atMost: 150, holds: pod.heapMB <= 150 },
      { name: 'boot until all are held, s', measured: shown(pod.bootS), atMost: 5, holds: pod.bootS <= 5 },
    ],
  };
}

function dueIndexUs(count) {
  const index = new DueIndex();
  const schedule = parseSchedule({ expression: EVERY_SECOND, timeZone: 'UTC', seed: 'bench' }, NOON);
  const names = Array.from({ length: count }, (_, n) => `cron-${n}`);
  for (const name of names) index.set(name, NOON);
  const rounds = 50;
  let [fired, now] = [0, NOON];
  const begun = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const due = index.takeDue(now);
    for (const name of due) index.set(name, schedule.next(now));
    fired += due.length;
    now += 1_000;
  }
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / fired;
}

async function timerEachUs(count, seconds) {
  const member = await Member.start('nest-schedule', { count, expression: EVERY_SECOND });
  try {
    const { told: bootCpuMs } = await member.ask('boot');
    await sleep(2_000);
    await member.ask('mark');
    await sleep(seconds * 1_000);
    const { cpuUs, late } = await member.ask('take');
    return { usPerFire: cpuUs / late.length, bootCpuMs };
  } finally {
    await member.end();
  }
}

async function onePod(bench, crons) {
  const space = bench.space('pod');
  const catalog = new RedisCatalog({ redis: bench.redis, prefix: space.prefix, tenant: 'default' });
  const declarations = Array.from({ length: crons }, (_, n) => ({ definition: definition(n), disabled: false }));
  await catalog.declare(declarations, { revision: 1, app: 'bench' });
  const before = await bench.redis.dbsize();
  const begun = performance.now();
  const pod = await Member.start('fencepost', { role: 'scheduler', ...space, pod: 'only' });
  try {
    // A lease for each, under one session.
    while ((await bench.redis.dbsize()) < before + crons) await sleep(100);
    const bootS = (performance.now() - begun) / 1_000;
    await sleep(2_000);
    return { bootS, heapMB: (await pod.ask('heap')).told / 2 ** 20 };
  } finally {
    await pod.end();
  }
}

/** Once a day, at 1,440 different minutes, as crons are. */
function definition(n) {
  return {
    name: `cron-${n}`,
    expression: `${n % 60} ${Math.floor(n / 60) % 24} * * *`,
    timeZone: 'UTC',
    misfire: 'fire-once',
    overlap: 'skip',
    graceMs: 60_000,
    catchUpWindowMs: null,
  };
}

function shown(value) {
  return Number(value.toPrecision(3));
}
