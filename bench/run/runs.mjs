import { createRequire } from 'node:module';
import { systemClock } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { Telemetry } from '@fencepost/jobs';
import { migrateLedger, PostgresLedger } from '@fencepost/ledger/postgres';
import { RunProcessor } from '../../libs/jobs/dist/running/run.processor.js';
import { BullmqRunQueue } from '../../libs/jobs/dist/queue/bullmq-run-queue.js';
import { Instants } from './instants.mjs';

const ofRoot = createRequire(new URL('../../package.json', import.meta.url));

/** With its tables made; ten connections, as a pool of `pg` has by default, and one for the transaction of each handler. */
async function openPostgresLedger(url, space, max = 1) {
  const { Pool } = ofRoot('pg');
  const pool = new Pool({ connectionString: url });
  const transactions = new Pool({ connectionString: url, max });
  await migrateLedger(pool, {});
  return {
    ledger: new PostgresLedger({ pool, transactions, ...space }),
    close: () => Promise.all([pool.end(), transactions.end()]),
  };
}

/** As many as a deployment has crons: what a call shares among runs of one is paid for each of them. */
const JOBS = Array.from({ length: 1_000 }, (_, n) => `job-${n}`);
/** Of each so many finished runs are kept. */
const KEPT = 1;
const TTL_MS = 60_000;
const MAX_AT_ONCE = 500;

/** A worker role without its Nest application, and runs for it; `redis` is the ledger's own connection. */
export async function openRuns({ redis: url, postgres, prefix, concurrency, transactions, ttlMs = TTL_MS }, handle) {
  const space = { prefix, tenant: 'bench' };
  const redis = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench' });
  // As the worker role has it: a fetch may be sent again as often as it takes.
  const [ofQueue, ofWorker] = [{}, { maxRetriesPerRequest: null }].map((more) => redis.duplicate(more));
  const stores = postgres ? await openPostgresLedger(postgres, space, transactions) : undefined;
  const ledger = stores?.ledger ?? new RedisLedger({ redis, ...space });
  const runs = await BullmqRunQueue.open({ redis: ofQueue, ...space, onTrouble: () => {} });
  const handler = { handle, retry: { attempts: 1, delayMs: 0, maxDelayMs: 0 } };
  const telemetry = new Telemetry();
  const attempts = {
    ...{ ledger, telemetry, clock: systemClock, random: Math.random, worker: 'bench', ttlMs },
    handlerOf: () => handler,
  };
  const options = { ...space, redis: ofWorker, concurrency, clock: systemClock, telemetry, attempts };
  const processor = new RunProcessor({ ...options, handlers: () => JOBS });
  await processor.start();
  const instants = new Instants();
  return {
    redis,
    queue: queueOf(runs),
    fill: ({ count }) => fill({ ledger, runs, instants }, count),
    beats: (count) => beatsOf(ledger, count),
    async stop() {
      await processor.stop(1_000);
      await runs.close();
      await Promise.all([redis, ofQueue, ofWorker].map((one) => closeRedis(one)));
      await stores?.close();
    },
  };
}

/** Without a live pod of a worker, all runs go there. */
function queueOf(runs) {
  return runs.queues.named('runs');
}

/** Claims the next instants of every job and hands them to the queue, as a scheduler does. */
async function fill({ ledger, runs, instants }, count) {
  await queueOf(runs).pause();
  const wanted = Array.from({ length: count }, (_, n) => JOBS[n % JOBS.length]);
  for (let from = 0; from < count; from += MAX_AT_ONCE) {
    const claims = wanted.slice(from, from + MAX_AT_ONCE).map((job) => instants.next(job));
    const refused = (await ledger.claimAll(claims)).find(({ value }) => value?.verdict !== 'claimed');
    if (refused) throw new Error(`Expected a claim to be accepted, got ${JSON.stringify(refused)}.`);
    const ids = claims.map(({ cron, occurrence }) => `${cron}@${occurrence.scheduledAt}`);
    await runs.enqueue(ids.map((runId) => ({ runId, delivery: 1 })));
    await ledger.confirm(ids);
  }
}

/** What schedulers do besides: once for the runs of a window, those beyond the newest of each job are deleted. */
export async function openRetention({ redis: url, postgres, prefix }) {
  const space = { prefix, tenant: 'bench' };
  const redis = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench' });
  const stores = postgres ? await openPostgresLedger(postgres, space) : undefined;
  const ledger = stores?.ledger ?? new RedisLedger({ redis, ...space });
  return {
    async forget() {
      const failed = (await ledger.forgetAll(JOBS, KEPT)).find(({ status }) => status === 'rejected');
      if (failed) throw failed.reason;
    },
    async stop() {
      await closeRedis(redis);
      await stores?.close();
    },
  };
}

/** When so many heartbeats have been answered. */
function beatsOf(ledger, count) {
  const beat = ledger.heartbeat;
  let left = count;
  return new Promise((resolve) => {
    ledger.heartbeat = async (...args) => {
      const reply = await beat.apply(ledger, args);
      left -= 1;
      if (left === 0) resolve();
      return reply;
    };
  });
}
