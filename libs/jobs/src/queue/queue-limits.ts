import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { Delivery } from '@fencepost/ledger';
import { queueOfGroup } from './routing.js';
import { jobId } from './run-job.js';
import { queueNames, queuePrefix } from './run-queues.js';

/** What an operator has set on a queue, for all its crons and workers: Bull Board has a button for each. */
export interface QueueLimits {
  readonly queue: string;
  readonly isPaused: boolean;
  /** The queue of its app, if the one is paused and the other is not; `null` for a queue that isn't that of a group. */
  readonly pausedUnlike: string | null;
  /** How many of its jobs may be executed at once; `null`: any number. */
  readonly concurrency: number | null;
  /** How many of its jobs are taken in a time; `null`: any number. */
  readonly rate: { readonly max: number; readonly durationMs: number } | null;
  /** Jobs that a worker could take if nothing were in the way. */
  readonly waiting: number;
}

export interface QueueLimitsOptions extends KeySpace {
  readonly redis: RedisClient;
  /** Only of the queue that has it; default: of all queues. */
  readonly delivery?: Delivery | undefined;
}

/** The limits of each queue, in two round trips. @throws what the connection throws */
export async function readQueueLimits({ redis, delivery, ...space }: QueueLimitsOptions): Promise<QueueLimits[]> {
  const prefix = queuePrefix(space);
  const queues = await queueNames({ redis, ...space });
  const read = queues.map(async (queue) => {
    const key = (type: string) => `${prefix}:${queue}:${type}`;
    const [meta, waiting, prioritized, isThere] = await Promise.all([
      redis.hmget(key('meta'), 'paused', 'concurrency', 'max', 'duration'),
      redis.llen(key('wait')),
      redis.zcard(key('prioritized')),
      delivery ? redis.exists(key(jobId(delivery))) : 1,
    ]);
    return { queue, ...limitsIn(meta), waiting: waiting + prioritized, isThere: isThere === 1 };
  });
  const all = await Promise.all(read);
  const paused = new Set(all.flatMap(({ queue, isPaused }) => (isPaused ? [queue] : [])));
  return all.flatMap(({ isThere, ...limits }) => {
    return isThere ? [{ ...limits, pausedUnlike: pausedUnlike(limits.queue, paused) }] : [];
  });
}

function pausedUnlike(queue: string, paused: ReadonlySet<string>): string | null {
  const app = queueOfGroup(queue);
  return app !== null && paused.has(app) !== paused.has(queue) ? app : null;
}

function limitsIn([paused, concurrency, max, duration]: readonly (string | null)[]) {
  return {
    isPaused: paused !== null && paused !== undefined,
    concurrency: concurrency ? Number(concurrency) : null,
    rate: max && duration ? { max: Number(max), durationMs: Number(duration) } : null,
  };
}
