import { Queue, Worker, type BackendFactory, type Job, type JobsOptions, type RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { parseFence } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { afterEach } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { batchingBackend } from './batching-backend.js';
import { FusedClaims } from './fused-claims.js';
import { workerBackend } from './worker-backend.js';
import { WorkerQueues } from './worker-queues.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

export type Backend = (redis: Redis) => BackendFactory<RedisQueueBackend>;

/** BullMQ's own. */
export const bare = (() => undefined) as unknown as Backend;
export const own: Backend = batchingBackend;
export const ownWorker: Backend = (redis) => workerBackend(redis, { queues: new WorkerQueues(['q']) });

/** A queue, and what is done to it. */
export interface Stage {
  readonly redis: Redis;
  readonly prefix: string;
  readonly queue: Queue;
  readonly add: (names: readonly string[], options?: JobsOptions) => Promise<void>;
  /** A worker without a loop: jobs are taken and ended by hand. */
  readonly byHand: () => Promise<Worker>;
  /** By such a worker, under the lock "token". */
  readonly take: () => Promise<Job>;
  /** Lets a worker execute until it has ended so many jobs. */
  readonly work: (ends: number, options?: Working) => Promise<void>;
  readonly snapshot: () => Promise<Record<string, unknown>>;
}

interface Working {
  readonly concurrency?: number;
  readonly process?: (job: Job) => Promise<unknown>;
}

export const KEPT = { count: 5, age: 3_600 };

export function stage({ adder, worker }: { readonly adder: Backend; readonly worker: Backend }): Stage {
  const redis = spaces.redis();
  const { prefix } = spaces.fresh();
  const queue = new Queue('q', { connection: redis, prefix }, adder(redis));
  closing.push(() => queue.close());
  const workerOn = (process: ((job: Job) => Promise<unknown>) | null, concurrency: number) => {
    const connection = redis.duplicate({ maxRetriesPerRequest: null });
    const settings = { connection, prefix, concurrency, autorun: false, drainDelay: 1 };
    const keeping = { removeOnComplete: KEPT, removeOnFail: KEPT };
    const made = new Worker('q', process, { ...settings, ...keeping }, worker(connection));
    closing.push(async () => {
      await made.close(true);
      await closeRedis(connection);
    });
    return made;
  };
  const byHand = async () => {
    const made = workerOn(null, 1);
    await made.waitUntilReady();
    return made;
  };
  return {
    redis,
    prefix,
    queue,
    async add(names, options) {
      const jobs = names.map((name) => ({
        name,
        data: { runId: `${name}/1` },
        opts: { jobId: name, attempts: 1, ...options },
      }));
      await queue.addBulk(jobs);
    },
    byHand,
    async take() {
      const taking = await byHand();
      const job: Job | undefined = await taking.getNextJob('token', { block: false });
      if (!job) throw new Error('Expected a job.');
      return job;
    },
    async work(ends, { concurrency = 1, process = async () => null } = {}) {
      const made = workerOn(process, concurrency);
      let ended = 0;
      await new Promise<void>((resolve) => {
        const count = () => (ended += 1) === ends && resolve();
        made.on('completed', count);
        made.on('failed', count);
        void made.run();
      });
      await made.close();
    },
    snapshot: () => snapshot(redis, prefix),
  };
}

/** Adds the jobs of runs by claiming these in the same script, in a ledger beside the queue. */
export function claimsInto({ redis, queue }: Stage): (runIds: readonly string[]) => Promise<void> {
  const { claimStep: step } = new RedisLedger({ redis, ...spaces.fresh() });
  if (!step) throw new Error('Expected a ledger that can share a step.');
  const router = {
    targets: async (runIds: readonly string[]) => ({ queues: runIds.map(() => queue.name), taken: null }),
  };
  const queues = { named: () => queue, note: async () => {} };
  const claims = new FusedClaims({ redis, step, router, queues });
  return async (runIds) => {
    const outcomes = await claims.claimAll(runIds.map(claimOf));
    const refused = outcomes.find((one) => one.status === 'rejected' || one.value.verdict !== 'claimed');
    if (refused) throw new Error(`Expected all to be claimed, got ${JSON.stringify(refused)}.`);
  };
}

function claimOf(runId: string) {
  const [cron = '', instant] = runId.split('@');
  const scheduledAt = Number(instant);
  return {
    cron,
    fence: parseFence('1'),
    term: 't',
    holder: 's/1',
    generation: 1,
    nonce: runId,
    cursor: null,
    skips: [],
    occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule' as const, missed: null },
    overlap: 'allow' as const,
  };
}

const TIMES = new Set(['timestamp', 'processedOn', 'finishedOn']);

/** What a worker remembers of its last calls belongs to no queue. */
const OF_A_WORKER = /:turn:/;

/** All keys below a prefix, without what differs from one time to the next. */
async function snapshot(redis: Redis, prefix: string): Promise<Record<string, unknown>> {
  const keys = (await redis.keys(`${prefix}:*`)).filter((key) => !OF_A_WORKER.test(key)).toSorted();
  const entries = await Promise.all(keys.map(async (key) => [key.slice(prefix.length), await contentOf(redis, key)]));
  return Object.fromEntries(entries.filter(([, content]) => content !== null)) as Record<string, unknown>;
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'hash':
      return Object.fromEntries(
        Object.entries(await redis.hgetall(key)).map(([field, value]) => [field, plain(field, value)]),
      );
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return (await redis.smembers(key)).toSorted();
    case 'zset':
      return (await redis.zrange(key, 0, '-1')).toSorted();
    case 'stream':
      return (await redis.xrange(key, '-', '+')).map(([, fields]) =>
        fields.map((value) => value.replace(/\d{13}/, '<time>')),
      );
    case 'string':
      return /:(lock|stalled-check)$/.test(key) ? '<own>' : redis.get(key);
    default:
      return null;
  }
}

function plain(field: string, value: string): unknown {
  if (TIMES.has(field)) return '<time>';
  if (field === 'opts') return JSON.parse(value);
  return field === 'stacktrace' ? '<stack>' : value;
}

export const names = (count: number, word = 'job') => Array.from({ length: count }, (_, n) => `${word}-${n}`);

/** In no order, because slots work side by side, and without those that say how often a queue was empty. */
export async function eventsOf({ redis, prefix }: Stage): Promise<string[]> {
  const events = await redis.xrange(`${prefix}:q:events`, '-', '+');
  const texts = events.map(([, fields]) => fields.join(' '));
  return texts.filter((text) => text !== 'event drained').toSorted();
}
