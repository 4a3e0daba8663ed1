import { median, quantile } from '../lease/statistics.mjs';
import { addBulkMs, jobSchedulersMs } from './peers.mjs';
import { Enqueued } from './enqueued.mjs';
import { boot, cronOf, declare, sleep } from './stage.mjs';

const PODS = 3;
/** Due every second, before, during and after the burst. */
const OTHERS = 200;

/** Many crons due at one instant on three pods, and what that does to the instants of others. */
export async function burst(bench) {
  const ours = await bench.onServer((space) => oursOf(space, bench));
  const floorMs = await bench.onServer(({ redis }) => addBulkMs(redis, bench.burst));
  const peerMs = await bench.onServer((space) => jobSchedulersMs(space, bench.burst));
  return {
    ours,
    peers: { 'addBulk alone': { allMs: floorMs }, 'BullMQ Job Schedulers, until begun': { allMs: peerMs } },
    ratios: { addBulk: ours.allMs / floorMs, peer: ours.allMs / peerMs },
    claims: [
      [`${bench.burst} due at one instant: all enqueued, ms`, ours.allMs, 10_000],
      ['of them lost', ours.lost, 0, 'count'],
      ['instants of others lost', ours.othersLost, 0, 'count'],
      ['the latest of the others, ms', ours.othersMaxMs, 1_000],
    ],
  };
}

async function oursOf(space, { burst: count, quick }) {
  const at = Math.ceil((Date.now() + (quick ? 30_000 : 60_000)) / 1_000) * 1_000;
  const many = Array.from({ length: count }, (_, n) => cronOf(n, expressionAt(at)));
  // Each missed instant counts: `fire-once` would merge those of a stop into one.
  const others = Array.from({ length: quick ? 20 : OTHERS }, (_, n) => {
    return { ...cronOf(n, '* * * * * *', `other-${n}`), misfire: 'fire-all' };
  });
  await declare({ ...space, redis: space.client }, [...many, ...others]);
  const { crew } = await boot(space, count + others.length, { processes: PODS });
  const enqueued = new Enqueued(space.client, space.prefix);
  try {
    if (Date.now() > at - 5_000) throw new Error('The pods took too long to be calm before the instant.');
    await sleep(at - Date.now() + (quick ? 5_000 : 15_000));
    return figures(await enqueued.waiting(), { runs: enqueued.runs, at, count, others: others.length });
  } finally {
    await enqueued.stop();
    await crew.end();
  }
}

function figures(waiting, { runs, at, count, others }) {
  const isOther = ({ cron }) => cron.startsWith('other-');
  const mine = runs.filter((run) => !isOther(run));
  const [from, to] = [at - 4_000, at + 4_000];
  const among = runs.filter((run) => isOther(run) && run.scheduledAt >= from && run.scheduledAt < to);
  const late = (runsOf) => runsOf.map(({ lateMs }) => lateMs);
  const during = late(among.filter(({ scheduledAt }) => scheduledAt >= at));
  const found = (list) => new Set(list.map(({ cron, scheduledAt }) => `${cron}@${scheduledAt}`)).size;
  return {
    crons: count,
    allMs: latest(late(mine)),
    p50Ms: median(late(mine)),
    lost: count - found(waiting.filter((run) => !isOther(run))),
    othersP99Ms: quantile(during, 0.99) ?? Infinity,
    othersMaxMs: latest(during),
    othersCalmMaxMs: latest(late(among.filter(({ scheduledAt }) => scheduledAt < at))),
    othersLost: (others * (to - from)) / 1_000 - found(among),
  };
}

/** What never happened was never in time. */
function latest(late) {
  return late.length === 0 ? Infinity : Math.max(...late);
}

function expressionAt(at) {
  const date = new Date(at);
  return `${date.getUTCSeconds()} ${date.getUTCMinutes()} ${date.getUTCHours()} * * *`;
}
