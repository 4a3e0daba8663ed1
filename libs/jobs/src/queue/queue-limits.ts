import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { QUEUE_NAME, queuePrefix } from './bullmq-run-queue.js';

/** What a person has set on a queue, for all crons and workers together: Bull Board has a button for each. */
export interface QueueLimits {
  readonly queue: string;
  readonly isPaused: boolean;
  /** How many of its jobs may be executed at once; `null`: any number. */
  readonly concurrency: number | null;
  /** How many of its jobs are taken in a time; `null`: any number. */
  readonly rate: { readonly max: number; readonly durationMs: number } | null;
  /** Jobs that a worker could take if nothing were in the way. */
  readonly waiting: number;
}

export interface QueueLimitsOptions extends KeySpace {
  readonly redis: RedisClient;
  readonly queues?: readonly string[];
}

/** The limits of each queue, in one round trip. @throws what the connection throws */
export function readQueueLimits({
  redis,
  queues = [QUEUE_NAME],
  ...space
}: QueueLimitsOptions): Promise<QueueLimits[]> {
  const prefix = queuePrefix(space);
  return Promise.all(
    queues.map(async (queue) => {
      const key = (type: string) => `${prefix}:${queue}:${type}`;
      const [meta, waiting, prioritized] = await Promise.all([
        redis.hmget(key('meta'), 'paused', 'concurrency', 'max', 'duration'),
        redis.llen(key('wait')),
        redis.zcard(key('prioritized')),
      ]);
      return { queue, ...limitsIn(meta), waiting: waiting + prioritized };
    }),
  );
}

function limitsIn([paused, concurrency, max, duration]: readonly (string | null)[]) {
  return {
    isPaused: paused !== null && paused !== undefined,
    concurrency: concurrency ? Number(concurrency) : null,
    rate: max && duration ? { max: Number(max), durationMs: Number(duration) } : null,
  };
}
