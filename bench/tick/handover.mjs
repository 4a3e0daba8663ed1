import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { RedisLedger } from '@fencepost/ledger/redis';
import { BullmqRunQueue } from '../../libs/jobs/dist/queue/bullmq-run-queue.js';
import { median } from '../lease/statistics.mjs';
import { atMost, shown } from '../run/claims.mjs';
import { redisCpuUs } from './redis-cost.mjs';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Queue } = ofJobs('bullmq');

const BATCH = 250;
const WARM_UP_ROUNDS = 2;
const ROUNDS = 9;
/** The default, which counts open runs, and the one that doesn't. */
const OVERLAPS = ['skip', 'allow'];

/**
 * What it takes to hand instants over to the queue (claimed and enqueued in one step, up to 250 crons at a time), in one process,
 * against BullMQ's `addBulk` alone.
 */
export async function handover({ redis, quick, space }) {
  const form = quick ? { crons: 100, instants: 1, rounds: 1 } : { crons: 1_000, instants: 4, rounds: ROUNDS };
  const [connection, own] = [1, 2].map(() => redis.duplicate({ maxRetriesPerRequest: null }));
  const queue = new Queue('handover', { connection, prefix: '{handover}' });
  const runs = new BullmqRunQueue({ redis: own, prefix: space('ours').prefix, tenant: 'bench', onTrouble: () => {} });
  const ours = OVERLAPS.map((overlap) => [overlap, (batch, claims) => handOver(claims, { batch, overlap })]);
  const ways = { bare: (batch) => add(queue, batch), ...Object.fromEntries(ours) };
  const seen = Object.fromEntries(Object.keys(ways).map((who) => [who, []]));
  try {
    await Promise.all([queue.waitUntilReady(), runs.queues.named('runs').waitUntilReady()]);
    for (let round = 0; round < WARM_UP_ROUNDS + form.rounds; round += 1) {
      const order = Object.keys(ways);
      for (const who of round % 2 === 0 ? order : order.toReversed()) {
        await redis.flushall();
        const ledger = new RedisLedger({ redis, prefix: space(who).prefix, tenant: 'bench' });
        const claims = runs.claimsWith(ledger.claimStep);
        const cost = await costOf(redis, form, (batch) => ways[who](batch, claims));
        if (round >= WARM_UP_ROUNDS) seen[who].push(cost);
      }
    }
  } finally {
    await Promise.all([queue.close(), runs.close()]);
    for (const one of [connection, own]) one.disconnect();
  }
  return judge(seen);
}

/** µs per tick of the server's processor and of ours. */
async function costOf(redis, { crons, instants }, hand) {
  const names = Array.from({ length: crons }, (_, n) => `cron-${String(n).padStart(4, '0')}`);
  const last = Math.floor(Date.now() / 1_000) * 1_000;
  const before = await redisCpuUs(redis);
  const cpu = process.cpuUsage();
  for (let n = instants - 1; n >= 0; n -= 1) {
    const at = last - n * 1_000;
    for (let from = 0; from < crons; from += BATCH) {
      const cursor = n === instants - 1 ? null : at - 1_000;
      await hand(names.slice(from, from + BATCH).map((cron) => ({ cron, at, cursor })));
    }
  }
  const { user, system } = process.cpuUsage(cpu);
  const ticks = crons * instants;
  return { redisUs: ((await redisCpuUs(redis)) - before) / ticks, nodeUs: (user + system) / ticks };
}

function add(queue, batch) {
  return queue.addBulk(
    batch.map(({ cron, at }) => ({
      name: cron,
      data: { runId: `${cron}@${at}` },
      opts: { jobId: `${cron}@${at}`, attempts: 1 },
    })),
  );
}

async function handOver(claims, { batch, overlap }) {
  const replies = await claims.claimAll(batch.map((one) => claimOf(one, overlap)));
  const refused = replies.find(({ value }) => value?.verdict !== 'claimed');
  if (refused) throw new Error(`A claim was refused: ${JSON.stringify(refused)}.`);
}

function claimOf({ cron, at, cursor }, overlap) {
  return {
    cron,
    fence: 1_763_607_600_000_123,
    term: 'term-1',
    holder: 'scheduler-7f9c4d/ab12cd34ef',
    nonce: randomUUID().slice(-17),
    generation: 1,
    cursor,
    skips: [],
    occurrence: { scheduledAt: at, dueAt: at, reason: 'schedule', missed: null },
    overlap,
    maxConcurrency: 100_000,
    startBy: null,
    handler: null,
    payload: null,
    priority: null,
  };
}

function judge({ bare, skip, allow }) {
  const of = (all, field) => median(all.map((one) => one[field]));
  const figures = (all) => ({ redisUs: shown(of(all, 'redisUs')), nodeUs: shown(of(all, 'nodeUs')) });
  const against = (name, limit, { ours = skip, field }) => {
    const ratios = ours.map((one, n) => one[field] / bare[n][field]);
    return {
      ...atMost(name, median(ratios), limit),
      least: shown(Math.min(...ratios)),
      most: shown(Math.max(...ratios)),
    };
  };
  return {
    ours: figures(skip),
    peers: { 'ours, overlap allow': figures(allow), 'bare: addBulk': figures(bare) },
    claims: [
      against('Redis a tick, against addBulk', 1.15, { field: 'redisUs' }),
      against('node a tick, against addBulk', 0.5, { field: 'nodeUs' }),
      against('Redis a tick with overlap allow, against addBulk', 1.15, { ours: allow, field: 'redisUs' }),
      against('node a tick with overlap allow, against addBulk', 0.5, { ours: allow, field: 'nodeUs' }),
    ],
  };
}
