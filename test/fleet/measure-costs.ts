import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { Fence } from '@fencepost/lease';
import { closeRedis, connectRedis, RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { readChanges } from '@fencepost/ledger/catalog';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { BullmqRunQueue, FORMER_QUEUE, queuePrefix, RedisMembership } from '@fencepost/jobs/internal';
import { candidates, firstOf, hashOf } from '@fencepost/jobs/internal/scheduling';
import { startRedis } from '../../scripts/redis.mjs';
import { MEASURED, type Costs } from './costs.js';

const SPACE = { prefix: 'costs', tenant: 'default' };
const CRONS = 5_000;
const AT_ONCE = 250;
const INSTANTS = 4;
const MANY_PODS = 100;
/** Calls of a kind that are measured, and signs of life that so many readers read. */
const CALLS = 1_000;
const ENTRIES = 1_000;
const READERS = 50;
const TTL_MS = 60_000;
const NAMES = Array.from({ length: CRONS }, (_, n) => `schedule-${n}`);
const TERM_FENCE = 1_763_607_600_000_123 as Fence;

/** What was spent while something was done so many times, each. */
interface Spent {
  readonly us: number;
  readonly commands: number;
  readonly bytes: number;
  readonly podUs: number;
}

/** The costs of the scripts on a Redis of this machine. What a pod keeps is not measured here: `npm run bench:scale` does. */
export async function measureCosts(): Promise<Costs> {
  delete process.env.REDIS_URL;
  const server = await startRedis();
  const redis = await connectRedis({ url: server.url, commandTimeoutMs: 10_000, name: 'costs' });
  try {
    const catalog = await ofCatalog(redis);
    const leases = await ofLeases(redis);
    const membership = await ofMembership(redis);
    const instants = await ofInstants(redis, server.url);
    const redisBytes = catalog.bytes + leases.bytes + membership.bytes;
    const { knownBytes, heldBytes } = MEASURED;
    const costs = {
      ...catalog.costs,
      ...leases.costs,
      ...membership.costs,
      ...instants,
      redisBytes,
      knownBytes,
      heldBytes,
    };
    return rounded({ ...costs, assignNsPerPair: assignNs() });
  } finally {
    await closeRedis(redis);
    await server.stop();
  }
}

function rounded(costs: Costs): Costs {
  return Object.fromEntries(
    Object.entries(costs).map(([name, value]) => [name, Number(value.toPrecision(3))]),
  ) as unknown as Costs;
}

async function spent(redis: RedisClient, times: number, task: () => Promise<unknown>): Promise<Spent> {
  const before = await figuresOf(redis);
  const cpu = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(cpu);
  const after = await figuresOf(redis);
  const each = (name: keyof typeof before) => (after[name] - before[name]) / times;
  return { us: each('us'), commands: each('commands'), bytes: each('bytes'), podUs: (user + system) / times };
}

async function figuresOf(redis: RedisClient) {
  const info = await redis.info('everything');
  const value = (name: string) => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? NaN);
  const calls = [...info.matchAll(/^cmdstat_(?!info)[^:]+:calls=(\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  return { us: (value('used_cpu_user') + value('used_cpu_sys')) * 1e6, commands: calls, bytes: value('used_memory') };
}

async function inParts(task: (names: readonly string[]) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < CRONS; n += AT_ONCE) await task(NAMES.slice(n, n + AT_ONCE));
}

async function ofCatalog(redis: RedisClient) {
  const catalog = new RedisCatalog({ redis, ...SPACE });
  const declarations = NAMES.map((name, n) => ({ definition: definitionOf(name, n), disabled: false }));
  const declared = await spent(redis, CRONS, () => catalog.declare(declarations, { revision: 1, app: 'costs' }));
  const read = await spent(redis, CRONS, () => readChanges(catalog, null));
  return { bytes: declared.bytes, costs: { catalogUs: read.us } };
}

async function ofLeases(redis: RedisClient) {
  const store = new RedisLeaseStore({ redis, ...SPACE });
  const ledger = new RedisLedger({ redis, ...SPACE });
  const session = { nonce: randomUUID(), holder: 'scheduler-0001', ttlMs: TTL_MS };
  await store.sessions.open(session);
  const requests = new Map(NAMES.map((resource) => [resource, { resource, nonce: randomUUID(), floor: 0 as Fence }]));
  const of = (names: readonly string[]) => names.flatMap((name) => requests.get(name) ?? []);
  const acquired = await spent(redis, CRONS, () => inParts((names) => store.sessions.acquire(session, of(names))));
  const times = 500;
  const renewed = await spent(redis, times, async () => {
    for (let n = 0; n < times; n += 1) await store.sessions.renew(session, []);
  });
  const read = await spent(redis, CRONS, () => inParts((names) => ledger.readCrons(names)));
  const asked = await spent(redis, CRONS * INSTANTS, async () => {
    for (let n = 0; n < INSTANTS; n += 1) await ledger.withOpenRuns(NAMES);
  });
  const released = await spent(redis, CRONS, () => inParts((names) => store.release(of(names))));
  await store.sessions.close(session);
  const own = (names: readonly string[]) =>
    of(names).map((term) => ({ ...term, holder: session.holder, ttlMs: TTL_MS }));
  await inParts((names) => store.acquireMany(own(names)));
  const kept = await spent(redis, CRONS, () => inParts((names) => store.renew(of(names), TTL_MS)));
  await inParts((names) => store.release(of(names)));
  const costs = {
    ...{ sessionUs: renewed.us, sessionCommands: renewed.commands, acquireUs: acquired.us },
    ...{ acquireCommands: acquired.commands, releaseUs: released.us, readCronUs: read.us, renewUs: kept.us },
    openRunsUs: asked.us,
  };
  return { bytes: acquired.bytes, costs };
}

async function ofMembership(redis: RedisClient) {
  const membership = new RedisMembership({ redis, ...SPACE });
  const now = Date.now();
  const published = await spent(redis, CRONS, () =>
    inParts((names) => membership.publishDue(new Map(names.map((name, n) => [name, now + 86_400_000 + n])))),
  );
  const pod = 'scheduler-0001';
  await membership.heartbeat(pod);
  const each = (task: () => Promise<unknown>) =>
    spent(redis, CALLS, async () => {
      for (let n = 0; n < CALLS; n += 1) {
        // Several in one millisecond would have the server asked for its time as well, as pods never have.
        await setTimeout(2);
        await task();
      }
    });
  const beat = await each(() => membership.beat('scheduler-0002', 'pod'));
  await membership.members();
  const heartbeat = await each(() => membership.heartbeat(pod));
  const members = await each(() => membership.members());
  const entryUs = await ofEntry(redis, membership);
  const costs = {
    ...{ publishUs: published.us, beatUs: beat.us, heartbeatUs: Math.max(0, heartbeat.us - entryUs) },
    ...{ membersUs: members.us, entryUs, beatCommands: beat.commands },
    ...{ heartbeatCommands: heartbeat.commands, membersCommands: members.commands },
  };
  return { bytes: published.bytes, costs };
}

/** Several readers read the same entries, so that reading them is most of what is measured. */
async function ofEntry(redis: RedisClient, membership: RedisMembership): Promise<number> {
  const readers = Array.from({ length: READERS }, () => new RedisMembership({ redis, ...SPACE }));
  for (const reader of readers) await reader.lowestFormat();
  await readersLook(readers);
  const none = await spent(redis, READERS, () => readersLook(readers));
  for (let n = 0; n < ENTRIES; n += 1) await membership.beat(`scheduler-${n % MANY_PODS}`, 'pod');
  const all = await spent(redis, READERS, () => readersLook(readers));
  return Math.max(0, (all.us - none.us) / ENTRIES);
}

async function readersLook(readers: readonly RedisMembership[]): Promise<void> {
  for (const reader of readers) await reader.members();
}

/** Instants as pods and workers handle them: claimed, enqueued, confirmed; taken, begun, finished. */
async function ofInstants(redis: RedisClient, url: string) {
  const ledger = new RedisLedger({ redis, ...SPACE });
  const queue = await BullmqRunQueue.open({ redis, ...SPACE, onTrouble: () => {} });
  const times = CRONS * INSTANTS;
  const last = Math.floor(Date.now() / 1_000) * 1_000;
  const each = (task: (names: readonly string[], at: number) => Promise<unknown>, at: number) =>
    inParts((names) => task(names, at));
  const sums = { claim: 0, enqueue: 0, confirm: 0, commands: 0, podUs: 0 };
  const note = (step: 'claim' | 'enqueue' | 'confirm', { us, commands, podUs }: Spent) => {
    sums[step] += us;
    sums.commands += commands;
    sums.podUs += podUs;
  };
  for (let n = INSTANTS - 1; n >= 0; n -= 1) {
    const at = last - n * 1_000;
    const cursor = n === INSTANTS - 1 ? null : at - 1_000;
    const claimed = (names: readonly string[]) => ledger.claimAll(names.map((cron) => claimOf(cron, at, cursor)));
    note('claim', await spent(redis, times, () => each(claimed, at)));
    const ids = (names: readonly string[]) => names.map((cron) => `${cron}@${at}`);
    const deliveries = (names: readonly string[]) => ids(names).map((runId) => ({ runId, delivery: 1 }));
    note('enqueue', await spent(redis, times, () => each((names) => queue.enqueue(deliveries(names)), at)));
    note('confirm', await spent(redis, times, () => each((names) => ledger.confirm(ids(names)), at)));
  }
  const worked = await spent(redis, times, () => work({ ledger, url, runs: times }));
  await queue.close();
  return {
    ...{ claimUs: sums.claim, enqueueUs: sums.enqueue, confirmUs: sums.confirm, instantCommands: sums.commands },
    ...{ podUsPerInstant: sums.podUs, runUs: worked.us, runCommands: worked.commands },
  };
}

/** A worker with empty handlers, until it has taken all runs. */
async function work({ ledger, url, runs }: { ledger: RedisLedger; url: string; runs: number }): Promise<void> {
  const connection = { url, maxRetriesPerRequest: null };
  let left = runs;
  await new Promise<void>((resolve, reject) => {
    const handle = async ({ data }: { data: { runId: string } }) => {
      const nonce = randomUUID().slice(-17);
      const begun = await ledger.begin({ ...data, nonce, worker: 'worker', ttlMs: TTL_MS, maxAttempts: 1 });
      if (begun.verdict !== 'begun') throw new Error(`Expected ${data.runId} to begin, got ${begun.verdict}.`);
      await ledger.finish({ ...data, fence: begun.fence, nonce }, { kind: 'succeeded' });
      if ((left -= 1) === 0) void worker.close().then(resolve);
    };
    const options = { connection, prefix: queuePrefix(SPACE), concurrency: 100, removeOnComplete: { count: 1_000 } };
    const worker = new Worker<{ runId: string }>(FORMER_QUEUE, handle, options);
    worker.on('failed', (_, error) => reject(error));
    worker.on('error', reject);
  });
}

function claimOf(cron: string, at: number, cursor: number | null) {
  return {
    ...{
      cron,
      fence: TERM_FENCE,
      term: 'term',
      holder: 'scheduler-0001',
      nonce: randomUUID().slice(-17),
      generation: 1,
    },
    ...{ cursor, skips: [], overlap: 'allow' as const, maxConcurrency: 100_000, startBy: null, handler: null },
    ...{ payload: null, priority: null },
    occurrence: { scheduledAt: at, dueAt: at, reason: 'schedule' as const, missed: null },
  };
}

function definitionOf(name: string, n: number) {
  return {
    ...{ name, expression: `${n % 60} ${Math.floor(n / 60) % 24} * * *`, timeZone: 'UTC' },
    ...({ misfire: 'fire-once', overlap: 'allow', graceMs: 60_000, catchUpWindowMs: null } as const),
  };
}

function assignNs(): number {
  const pods = candidates(Array.from({ length: MANY_PODS }, (_, n) => `scheduler-${n}`));
  const hashes = NAMES.map((name) => hashOf(name));
  const cpu = process.cpuUsage();
  for (let round = 0; round < 4; round += 1) for (const hash of hashes) firstOf(hash, pods);
  const { user, system } = process.cpuUsage(cpu);
  return ((user + system) * 1_000) / (4 * CRONS * MANY_PODS);
}
