import { setTimeout as wait } from 'node:timers/promises';
import { Queue, Worker, type Job, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { closeRedis } from '@fencepost/lease/redis';
import { afterEach } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { monitorOf } from '../../../../test/support/monitor.js';
import { testRedis } from '../../../../test/support/redis.js';
import { until } from '../../../../test/support/until.js';
import { batchingBackend } from './batching-backend.js';
import { workerBackend } from './worker-backend.js';
import { WorkerQueues } from './worker-queues.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

export interface Working {
  readonly concurrency?: number;
  readonly process?: (job: Job) => Promise<unknown>;
  readonly lockDuration?: number;
  /** Seconds; so long that a test fails if a worker only wakes by itself. */
  readonly drainDelay?: number;
}

export interface Server {
  readonly worker: Worker;
  readonly queues: WorkerQueues;
  /** The jobs in the order in which they were taken. */
  readonly seen: string[];
  /** The name of its connections. */
  readonly name: string;
}

/** Several queues of one prefix. */
export interface QueuesStage {
  readonly redis: Redis;
  readonly prefix: string;
  readonly queue: (name: string) => Queue;
  readonly add: (queue: string, ids: readonly string[], options?: JobsOptions) => Promise<void>;
  /** A worker of these queues whose loop is not running. */
  readonly made: (queues: readonly string[], options?: Working) => Server;
  /** The same, and it is running. */
  readonly works: (queues: readonly string[], options?: Working) => Promise<Server>;
  /** The connections of a worker, and the commands that it sends in some seconds. */
  readonly idleCost: (server: Server) => Promise<{ connections: number; commands: number }>;
  /** As many as that were completed in all queues. */
  readonly completed: (queues: readonly string[], count: number) => Promise<unknown>;
}

/** Some rounds of a worker's loop, and of its look for stalled jobs. */
const IDLE_MS = 4_500;

const KEPT = { count: 500, age: 3_600 };

export function queuesStage(): QueuesStage {
  const redis = spaces.redis();
  const prefix = `{${spaces.fresh().prefix}}`;
  let workers = 0;
  const known = new Map<string, Queue>();
  const queue = (name: string) => {
    const one = known.get(name) ?? new Queue(name, { connection: redis, prefix }, batchingBackend(redis));
    if (!known.has(name)) closing.push(() => one.close());
    known.set(name, one);
    return one;
  };
  const made: QueuesStage['made'] = (names, { process = async () => null, drainDelay = 5, ...others } = {}) => {
    const name = `worker-${(workers += 1)}-${prefix}`;
    const connection = redis.duplicate({ maxRetriesPerRequest: null, connectionName: name });
    const queues = new WorkerQueues(names);
    const seen: string[] = [];
    const work = async (job: Job) => {
      seen.push(job.id ?? '');
      return process(job);
    };
    const settings = { connection, prefix, drainDelay, autorun: false, stalledInterval: 1_000, maxStalledCount: 9 };
    const keeping = { removeOnComplete: KEPT, removeOnFail: KEPT };
    const worker = new Worker(
      names[0] ?? '',
      work,
      { ...settings, ...keeping, ...others },
      workerBackend(connection, { queues }),
    );
    closing.push(async () => {
      await worker.close(true);
      await closeRedis(connection);
    });
    return { worker, queues, seen, name };
  };
  return {
    redis,
    prefix,
    queue,
    async add(name, ids, options) {
      await queue(name).addBulk(
        ids.map((id) => ({ name: id, data: {}, opts: { jobId: id, attempts: 1, ...options } })),
      );
    },
    made,
    async works(names, options) {
      const server = made(names, options);
      await server.worker.waitUntilReady();
      void server.worker.run();
      return server;
    },
    async idleCost({ name }) {
      const clients = String(await redis.client('LIST')).split('\n');
      const own = clients.filter((line) => line.includes(name));
      const addresses = new Set(own.map((line) => /\baddr=(\S+)/.exec(line)?.[1]));
      let commands = 0;
      const end = await monitorOf(testRedis(), (_words, source) => {
        if (addresses.has(source)) commands += 1;
      });
      await wait(IDLE_MS);
      end();
      return { connections: own.length, commands };
    },
    completed: (names, count) =>
      until(`${count} jobs are completed`, async () => {
        const counts = await Promise.all(names.map((name) => queue(name).getCompletedCount()));
        return counts.reduce((sum, one) => sum + one, 0) >= count;
      }),
  };
}
