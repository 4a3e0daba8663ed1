import { randomUUID } from 'node:crypto';
import { startRedis } from '../../scripts/redis.mjs';
import { quantile } from '../lease/statistics.mjs';
import { Member } from '../tick/crew.mjs';
import { view } from './routes.mjs';
import { startScheduler } from './scheduler.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const SETTLED_MS = 5_000;

/** A calm window as the floor, and then the same with viewers, on the same pods. */
export async function run({ seconds, viewers, crons, quick }, print) {
  delete process.env.REDIS_URL;
  const server = await startRedis({ log: (line) => console.error(line) });
  const space = { redis: server.url, prefix: `bench-viewers-${randomUUID().slice(0, 8)}` };
  const scheduler = await startScheduler(space);
  const about = { ...space, role: 'worker', pod: 'worker', count: crons, expression: '* * * * * *' };
  const worker = await Member.start('fencepost', about);
  try {
    await firing(worker, crons);
    const calm = await windowOf({ worker, scheduler, crons, ms: seconds * 1_000 });
    const names = Array.from({ length: Math.min(crons, 3) }, (_, n) => `cron-${n}`);
    const looking = view({ url: scheduler.url, crons: names, viewers, ms: seconds * 1_000 + 2_000 });
    const [watched, seen] = await Promise.all([windowOf({ worker, scheduler, crons, ms: seconds * 1_000 }), looking]);
    return judged({ calm, watched, seen, quick, seconds, viewers }, print);
  } finally {
    await worker.end();
    await scheduler.end();
    await server.stop();
  }
}

/** Until every cron fires each second; what is slow at the start is none of the viewers' doing. */
async function firing(worker, crons) {
  const end = performance.now() + 60_000;
  for (;;) {
    await worker.ask('mark');
    await sleep(SETTLED_MS);
    const { instants } = await worker.ask('take');
    if (instants.filter(([, count]) => count === crons).length >= 3) return;
    if (performance.now() > end) throw new Error(`Expected ${crons} crons to fire each second, they do not.`);
  }
}

async function windowOf({ worker, scheduler, crons, ms }) {
  const lostBefore = scheduler.leasesLost();
  await worker.ask('mark');
  const from = Math.ceil(Date.now() / 1_000) * 1_000;
  await sleep(ms);
  const to = Math.floor(Date.now() / 1_000) * 1_000;
  // What is late is not missed.
  await sleep(SETTLED_MS);
  const { late, instants } = await worker.ask('take');
  const ran = new Map(instants);
  let missed = 0;
  for (let at = from; at < to; at += 1_000) missed += Math.max(0, crons - (ran.get(at) ?? 0));
  return {
    ticks: late.length,
    missed,
    leasesLost: scheduler.leasesLost() - lostBefore,
    p50: quantile(late, 0.5),
    p99: quantile(late, 0.99),
  };
}

function judged({ calm, watched, seen, quick, seconds, viewers }, print) {
  const ratio = Number((watched.p99 / calm.p99).toPrecision(3));
  const claims = [
    { name: 'leases lost', measured: watched.leasesLost, exactly: 0, holds: watched.leasesLost === 0 },
    { name: 'ticks missed', measured: watched.missed, exactly: 0, holds: watched.missed === 0 },
    { name: 'p99 of the lateness against calm', measured: ratio, atMost: 2, holds: ratio <= 2 },
  ];
  if (quick) for (const claim of claims) claim.holds = null;
  print(`calm     ${figures(calm)}\nviewers  ${figures(watched)}\nanswers  ${JSON.stringify(seen)}`);
  for (const { name, measured, holds } of claims) {
    print(`  ${holds === null ? 'not judged' : holds ? 'HOLDS' : 'FAILS'}  ${name}: ${measured}`);
  }
  return { ok: quick || claims.every(({ holds }) => holds), quick, seconds, viewers, calm, watched, seen, claims };
}

function figures(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`)
    .join('  ');
}
