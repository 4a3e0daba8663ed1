import { median } from '../lease/statistics.mjs';
import { redisCpuUs } from '../tick/redis-cost.mjs';
import { atLeast, shown } from './claims.mjs';
import { Member } from './crew.mjs';

const CONCURRENCY = 100;
const WARM_UP_ROUNDS = 2;
const FEWEST_ROUNDS = 3;

/**
 * A hundred handlers at once that do nothing, of a thousand jobs, while retention deletes the runs of the window before: how many
 * runs a second, against as many jobs of a bare worker.
 */
export function onRedis(bench) {
  const ours = { name: 'redis', about: {} };
  return against(bench, ours, ['runs a second on the Redis ledger, against bare', 0.7]);
}

/** The same with the ledger on PostgreSQL; the queue is on Redis as ever. */
export function onPostgres(bench) {
  const ours = { name: 'postgres', about: { postgres: bench.urls.postgres } };
  return against(bench, ours, ['runs a second on the PostgreSQL ledger, against bare', 0.4]);
}

async function against({ redis, urls, space, seconds, quick }, ours, [claim, limit]) {
  const members = new Map();
  const samples = new Map([
    ['bare', []],
    [ours.name, []],
  ]);
  const start = (program, more) =>
    Member.start(program, { redis: urls.redis, prefix: space(), concurrency: CONCURRENCY, ...more });
  const order = { count: quick ? 300 : 3_000, retention: true };
  try {
    members.set('bare', await start('bare', {}));
    members.set(ours.name, await start('fencepost', ours.about));
    for (let round = 0; !enough(samples, { round, seconds, quick }); round += 1) {
      // In turn, each time with another one first: a minute in which the machine had other work harms both.
      const turns = round % 2 === 0 ? [...members] : [...members].toReversed();
      for (const [name, member] of turns) {
        const sample = await measured(redis, member, order);
        if (round >= WARM_UP_ROUNDS) samples.get(name).push(sample);
      }
    }
  } finally {
    for (const member of members.values()) await member.end();
  }
  const bare = samples.get('bare');
  const ratio = median(samples.get(ours.name).map(({ perSecond }, n) => perSecond / bare[n].perSecond));
  const who = Object.fromEntries([...samples].map(([name, all]) => [name, mediansOf(all)]));
  return { who, claims: [atLeast(claim, ratio, limit)] };
}

/** The last of `seconds` is over when the windows of each have taken that long. */
function enough(samples, { round, seconds, quick }) {
  if (quick) return round > WARM_UP_ROUNDS;
  const taken = [...samples.values()].map((all) => all.reduce((sum, { ms }) => sum + ms, 0));
  return round >= WARM_UP_ROUNDS + FEWEST_ROUNDS && Math.min(...taken) >= seconds * 1_000;
}

async function measured(redis, member, order) {
  await member.ask('fill', order);
  const before = await redisCpuUs(redis);
  const { ms, cpuUs, commands } = await member.ask('drain', order);
  const redisUs = (await redisCpuUs(redis)) - before;
  // The window begins with the first one.
  const runs = order.count - 1;
  return {
    ms,
    perSecond: (runs * 1_000) / ms,
    nodeUs: cpuUs / runs,
    redisUs: redisUs / runs,
    commands: commands / runs,
  };
}

function mediansOf(all) {
  const keys = ['perSecond', 'nodeUs', 'redisUs', 'commands'];
  const medians = keys.map((key) => [key, shown(median(all.map((one) => one[key])))]);
  return { windows: all.length, ...Object.fromEntries(medians) };
}
