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

/**
 * What it takes to hand instants over to the queue (claim, enqueue, confirm, up to 250 crons at a time), in one process, against
 * BullMQ's `addBulk` alone.
 */
export async function handover({ redis, quick, space }) {
  const form = quick ? { crons: 100, instants: 1, rounds: 1 } : { crons: 1_000, instants: 4, rounds: ROUNDS };
  // No run of a cron ends here, and a second one would be skipped.
  const once = { crons: form.crons * form.instants, instants: 1 };
  const [connection, own] = [1, 2].map(() => redis.duplicate({ maxRetriesPerRequest: null }));
  const queue = new Queue('handover', { connection, prefix: '{handover}' });
  const runs = new BullmqRunQueue({ redis: own, prefix: space('ours').prefix, tenant: 'bench', onTrouble: () => {} });
  const ways = {
    bare: (batch) => add(queue, batch),
    ours: (batch, ledger) => handOver(runs, ledger, { batch, overlap: 'allow', maxConcurrency: 100_000 }),
    skip: (batch, ledger) => handOver(runs, ledger, { batch, overlap: 'skip', maxConcurrency: 1 }),
  };
  const seen = { bare: [], ours: [], skip: [] };
  try {
    await Promise.all([queue.waitUntilReady(), runs.queues.named('runs').waitUntilReady()]);
    for (let round = 0; round < WARM_UP_ROUNDS + form.rounds; round += 1) {
      const order = round % 2 === 0 ? ['bare', 'ours', 'skip'] : ['skip', 'ours', 'bare'];
      for (const who of order) {
        await redis.flushall();
        const ledger = new RedisLedger({ redis, prefix: space(who).prefix, tenant: 'bench' });
        const cost = await costOf(redis, who === 'skip' ? once : form, (batch) => ways[who](batch, ledger));
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

async function handOver(runs, ledger, { batch, ...policy }) {
  const replies = await ledger.claimAll(batch.map((one) => ({ ...claimOf(one), ...policy })));
  const refused = replies.find(({ value }) => value?.verdict !== 'claimed');
  if (refused) throw new Error(`A claim was refused: ${JSON.stringify(refused)}.`);
  const ids = batch.map(({ cron, at }) => `${cron}@${at}`);
  await runs.enqueue(ids.map((runId) => ({ runId, delivery: 1 })));
  await ledger.confirm(ids);
}

function claimOf({ cron, at, cursor }) {
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
    startBy: null,
    handler: null,
    payload: null,
    priority: null,
  };
}

function judge({ bare, ours, skip }) {
  const of = (all, field) => median(all.map((one) => one[field]));
  const figures = (all) => ({ redisUs: shown(of(all, 'redisUs')), nodeUs: shown(of(all, 'nodeUs')) });
  const against = (name, field, { limit, all = ours }) => {
    const ratios = all.map((one, n) => one[field] / bare[n][field]);
    return {
      ...atMost(name, median(ratios), limit),
      least: shown(Math.min(...ratios)),
      most: shown(Math.max(...ratios)),
    };
  };
  return {
    ours: figures(ours),
    peers: { 'ours, overlap skip': figures(skip), 'bare: addBulk': figures(bare) },
    claims: [
      against('Redis a tick, against addBulk', 'redisUs', { limit: 1.25 }),
      against('node a tick, against addBulk', 'nodeUs', { limit: 1.4 }),
      against('Redis a tick with overlap skip, against addBulk', 'redisUs', { limit: 1.4, all: skip }),
    ],
  };
}
