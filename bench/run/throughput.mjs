import { createRequire } from 'node:module';
import { median } from '../lease/statistics.mjs';
import { redisCpuUs } from '../tick/redis-cost.mjs';
import { atLeast, atMost, shown } from './claims.mjs';
import { Member } from './crew.mjs';
import { postgresCost } from './postgres-cost.mjs';
import { CREATE_ROWS } from './rows.mjs';
import { openRetention } from './runs.mjs';

const { Pool } = createRequire(new URL('../../package.json', import.meta.url))('pg');

const CONCURRENCY = 100;
const WARM_UP_ROUNDS = 2;
const FEWEST_ROUNDS = 7;

/**
 * A hundred handlers at once that do nothing, of a thousand jobs, while retention deletes the runs of the window before: how many
 * runs a second, against as many jobs of a bare worker.
 */
export function onRedis(bench) {
  const ours = { name: 'redis', about: {} };
  return against(bench, ours, { claim: 'runs a second on the Redis ledger, against bare', limit: 0.75, costs: 1 });
}

/** The same with as many handlers at once as a worker has by default. */
export function atTen(bench) {
  const ours = { name: 'redis', about: { concurrency: 10 } };
  return against(bench, ours, { claim: 'runs a second, ten at once, against bare', limit: 0.6 });
}

/** The same one after the other. */
export function atOne(bench) {
  const ours = { name: 'redis', about: { concurrency: 1 } };
  return against(bench, ours, { claim: 'runs a second, one at once, against bare', limit: 0.55 });
}

/** The same with the ledger on PostgreSQL; the queue is on Redis as ever. */
export function onPostgres(bench) {
  const ours = { name: 'postgres', about: { postgres: bench.urls.postgres } };
  return against(bench, ours, { claim: 'runs a second on the PostgreSQL ledger, against bare', limit: 0.5 });
}

/**
 * A handler that writes one row in a transaction with the record of its effect, against a job of pg-boss that writes one in a
 * transaction with its own end, on the same server. A hundred of ours at once against ten of theirs, which favours ours.
 */
export function transaction(bench) {
  const claim = 'transactions a second, a hundred at once, against ten workers of pg-boss';
  return againstPgBoss(bench, { name: 'transaction', concurrency: CONCURRENCY, claim });
}

/** The same with ten at once on both sides. */
export function transactionAtTen(bench) {
  const claim = 'transactions a second, ten at once, against ten workers of pg-boss';
  return againstPgBoss(bench, { name: 'transaction-ten', concurrency: PG_BOSS_WORKERS, claim });
}

const PG_BOSS_WORKERS = 10;

function againstPgBoss(bench, { name, concurrency, claim }) {
  const about = { concurrency, transactions: concurrency, postgres: bench.urls.postgres };
  const peerAbout = { concurrency: PG_BOSS_WORKERS };
  return against(bench, { name, about, handler: 'transaction', peer: 'pg-boss', peerAbout }, { claim, limit: 1.5 });
}

/** The servers that a window is measured on. */
class Servers {
  #redis;
  #pool;

  constructor(redis, postgres) {
    this.#redis = redis;
    this.#pool = postgres && new Pool({ connectionString: postgres, max: 1 });
  }

  /** Makes the table that handlers write to. */
  async open() {
    await this.#pool?.query(CREATE_ROWS);
  }

  /** Since they started. */
  async cost() {
    return { redisUs: await redisCpuUs(this.#redis), ...(this.#pool ? await postgresCost(this.#pool) : {}) };
  }

  async close() {
    await this.#pool?.end();
  }
}

async function against({ redis, urls, space, seconds, quick }, ours, claimed) {
  const { peer = 'bare' } = ours;
  const members = new Map();
  const samples = new Map([
    [peer, []],
    [ours.name, []],
  ]);
  const about = { redis: urls.redis, concurrency: CONCURRENCY, ...ours.about };
  const ofOurs = { ...about, prefix: space() };
  const order = { count: quick ? 300 : 3_000, handler: ours.handler };
  const retention = await openRetention(ofOurs);
  const servers = new Servers(redis, about.postgres);
  try {
    await servers.open();
    members.set(peer, { member: await Member.start(peer, { ...about, ...ours.peerAbout, prefix: space() }) });
    members.set(ours.name, { member: await Member.start('fencepost', ofOurs), retention });
    for (let round = 0; !enough(samples, { round, seconds, quick }); round += 1) {
      // In turn, each time with another one first: a minute in which the machine had other work harms both.
      const turns = round % 2 === 0 ? [...members] : [...members].toReversed();
      for (const [name, who] of turns) {
        const sample = await measured(servers, who, order);
        if (round >= WARM_UP_ROUNDS) samples.get(name).push(sample);
      }
    }
  } finally {
    for (const { member } of members.values()) await member.end();
    await retention.stop();
    await servers.close();
  }
  const who = Object.fromEntries([...samples].map(([name, all]) => [name, mediansOf(all)]));
  return { who, claims: claimsOf(samples.get(ours.name), samples.get(peer), claimed) };
}

/** @param {{ claim: string, limit: number, costs?: number }} claimed `costs`: of the processors of worker and Redis, together */
function claimsOf(ours, peer, { claim, limit, costs }) {
  const ratiosOf = (figure) => ours.map((one, n) => figure(one) / figure(peer[n]));
  const faster = ratiosOf(({ perSecond }) => perSecond);
  const speed = { ...atLeast(claim, median(faster), limit), ...spreadOf(faster) };
  if (costs === undefined) return [speed];
  const dearer = ratiosOf(({ nodeUs, redisUs }) => nodeUs + redisUs);
  return [speed, { ...atMost('processor time a run, against bare', median(dearer), costs), ...spreadOf(dearer) }];
}

function spreadOf(ratios) {
  return { least: shown(Math.min(...ratios)), most: shown(Math.max(...ratios)) };
}

/** The last of `seconds` is over when the windows of each have taken that long. */
function enough(samples, { round, seconds, quick }) {
  if (quick) return round > WARM_UP_ROUNDS;
  const taken = [...samples.values()].map((all) => all.reduce((sum, { ms }) => sum + ms, 0));
  return round >= WARM_UP_ROUNDS + FEWEST_ROUNDS && Math.min(...taken) >= seconds * 1_000;
}

/** With retention, from another process as it comes from a scheduler: what it costs the server belongs to the run. */
async function measured(servers, { member, retention }, order) {
  await member.ask('fill', order);
  const before = await servers.cost();
  const [{ ms, cpuUs, commands }] = await Promise.all([member.ask('drain', order), retention?.forget()]);
  const after = await servers.cost();
  // The window begins with the first one.
  const runs = order.count - 1;
  return {
    ms,
    perSecond: (runs * 1_000) / ms,
    nodeUs: cpuUs / runs,
    ...Object.fromEntries(Object.keys(after).map((key) => [key, (after[key] - before[key]) / runs])),
    commands: commands / runs,
  };
}

function mediansOf(all) {
  const keys = Object.keys(all[0]).filter((key) => key !== 'ms');
  const medians = keys.map((key) => [key, shown(median(all.map((one) => one[key])))]);
  return { windows: all.length, ...Object.fromEntries(medians) };
}
