import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { startRedis } from '../../scripts/redis.mjs';
import { Instants } from '../run/instants.mjs';
import { Member } from '../tick/crew.mjs';
import { viewedPod } from './viewed-pod.mjs';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Queue } = ofJobs('bullmq');

const CRONS_WITH_RUNS = 1_000;
const AT_ONCE = 100;
const LIMITS = { run: 400, effect: 150, idleCron: 700 };
/** RSS, megabytes. */
const MAX_VIEWED_MB = 250;

/** Differences of what the server says that it uses, so that each figure has the index, the keys and the allocator in it. */
export async function measureMemory({ runs, crons, viewed, quick }, print) {
  delete process.env.REDIS_URL;
  const server = await startRedis({ log: (line) => console.error(line) });
  const redis = await connectRedis({ url: server.url, commandTimeoutMs: 10_000, name: 'bench' });
  try {
    const bare = await bytesEach(redis, runs, () => addJobs(redis, runs));
    const run = await bytesEach(redis, runs, () => finishRuns(redis, runs));
    const withEffect = await bytesEach(redis, runs, () => finishRuns(redis, runs, withOneEffect));
    const idleCron = await bytesOfIdleCron({ redis, url: server.url, crons });
    const bytes = { run, effect: withEffect - run, idleCron, bareJob: bare };
    const claims = Object.entries(LIMITS).map(([name, atMost]) => {
      return claimOf(`bytes per ${name}`, bytes[name], { atMost, quick });
    });
    const pod = await viewedPod({ redis, url: server.url, viewed });
    claims.push(claimOf('RSS of a pod whose page is looked at, MB', pod.most, { atMost: MAX_VIEWED_MB, quick }));
    for (const claim of claims) print(`${claim.name}: ${claim.measured}, claimed at most ${claim.atMost}`);
    print(`bytes per job of a bare queue: ${Math.round(bare)}; a finished run takes ${(run / bare).toFixed(2)} of it`);
    return {
      ok: claims.every(({ holds }) => holds !== false),
      runs,
      crons,
      quick: quick ?? false,
      bytes: whole(bytes),
      podMb: whole(pod),
      viewed,
      claims,
    };
  } finally {
    await closeRedis(redis);
    await server.stop();
  }
}

function claimOf(name, value, { atMost, quick }) {
  const measured = Math.round(value);
  return { name, measured, atMost, holds: quick ? null : measured <= atMost };
}

function whole(bytes) {
  return Object.fromEntries(Object.entries(bytes).map(([name, value]) => [name, Math.round(value)]));
}

/** What `work` leaves in an empty database, for each of `count`. */
async function bytesEach(redis, count, work) {
  await redis.flushall();
  const before = await used(redis);
  await work();
  return ((await used(redis)) - before) / count;
}

async function used(redis) {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? NaN);
}

/** Waiting ones: a finished job has two fields more. */
async function addJobs(redis, count) {
  const connection = redis.duplicate({ maxRetriesPerRequest: null });
  const queue = new Queue('bare', { connection, prefix: 'bare' });
  for (let from = 0; from < count; from += AT_ONCE) {
    await queue.addBulk(
      Array.from({ length: AT_ONCE }, (_, n) => ({
        name: 'job',
        data: { runId: `job-${from + n}` },
        opts: { jobId: `job-${from + n}` },
      })),
    );
  }
  await queue.close();
  await closeRedis(connection);
}

/** Claimed, handed over, begun and finished by the ledger itself. */
async function finishRuns(redis, count, work = async () => {}) {
  const ledger = new RedisLedger({ redis, prefix: 'memory', tenant: 'bench' });
  const instants = new Instants();
  for (let from = 0; from < count; from += AT_ONCE) {
    const claims = Array.from({ length: AT_ONCE }, (_, n) => instants.next(`cron-${(from + n) % CRONS_WITH_RUNS}`));
    await ledger.claimAll(claims);
    const ids = claims.map(({ cron, occurrence }) => `${cron}@${occurrence.scheduledAt}`);
    await ledger.confirm(ids);
    await Promise.all(ids.map((runId) => execute(ledger, runId, work)));
  }
}

async function execute(ledger, runId, work) {
  const nonce = randomUUID().slice(-17);
  const worker = 'worker-7f9c4d5b68-x2x7q';
  const begun = await ledger.begin({ runId, nonce, worker, ttlMs: 30_000, maxAttempts: 3 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${JSON.stringify(begun)}.`);
  const attempt = { runId, fence: begun.fence, nonce };
  await work(ledger, attempt);
  await ledger.finish(attempt, { kind: 'succeeded' });
}

async function withOneEffect(ledger, attempt) {
  await ledger.beginEffect(attempt, { name: 'charge', ifUnknown: 'go', payloadHash: null });
  await ledger.finishEffect(attempt, 'charge', { kind: 'done', result: '"ok"' });
}

/** What one more of them takes on a system of a worker and two schedulers, which has them all in hand. */
async function bytesOfIdleCron({ redis, url, crons }) {
  const few = await usedByIdle({ redis, url, count: crons });
  const many = await usedByIdle({ redis, url, count: 2 * crons });
  return (many - few) / crons;
}

async function usedByIdle({ redis, url, count }) {
  await redis.flushall();
  const about = { redis: url, prefix: 'idle', count, expression: '0 0 1 1 *' };
  const members = [await Member.start('fencepost', { ...about, role: 'worker', pod: 'worker' })];
  try {
    for (const pod of ['scheduler-0', 'scheduler-1']) {
      members.push(await Member.start('fencepost', { ...about, role: 'scheduler', pod }));
    }
    return await steady(redis);
  } finally {
    await Promise.all(members.map((member) => member.end()));
  }
}

/** When nothing has been added for so many seconds: every cron is held, and what is written of that is written. */
const STEADY_S = 10;

async function steady(redis) {
  let [most, since] = [0, 0];
  while (since < STEADY_S) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = await used(redis);
    // A connection's buffers come and go; a cron more does not go.
    since = now > most * 1.002 ? 0 : since + 1;
    most = Math.max(most, now);
  }
  return used(redis);
}
