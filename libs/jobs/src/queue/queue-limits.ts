import type { Clock } from '@fencepost/lease';
import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { PodRegistry } from '../pods/pod-registry.js';
import { queueNames, queuePrefix } from './run-queues.js';
import { cronsIn, RunRouter } from './run-router.js';

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
  /** Default: all that runs have gone through. */
  readonly queues?: readonly string[];
}

/** The limits of each queue, in one round trip. @throws what the connection throws */
export async function readQueueLimits({ redis, queues, ...space }: QueueLimitsOptions): Promise<QueueLimits[]> {
  const prefix = queuePrefix(space);
  const names = queues ?? (await queueNames({ redis, ...space }));
  return Promise.all(
    names.map(async (queue) => {
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

export interface QueueLimitsReaderDeps extends KeySpace {
  readonly redis: RedisClient;
  readonly clock: Clock;
  readonly registry: Pick<PodRegistry, 'look' | 'change'>;
  readonly catalog: Pick<Catalog, 'read'>;
}

/** @returns what reads the limits of the queue that runs of a cron go to now; without a cron, those of all queues */
export function queueLimitsReader(deps: QueueLimitsReaderDeps): (cron?: string) => Promise<QueueLimits[]> {
  const { redis, prefix, tenant, clock, registry, catalog } = deps;
  const router = new RunRouter({ registry, clock, cronsOf: cronsIn(catalog) });
  return async (cron) => {
    const queues = cron === undefined ? undefined : (await router.targets([`${cron}@0`])).queues;
    return readQueueLimits({ redis, prefix, tenant, ...(queues && { queues }) });
  };
}

function limitsIn([paused, concurrency, max, duration]: readonly (string | null)[]) {
  return {
    isPaused: paused !== null && paused !== undefined,
    concurrency: concurrency ? Number(concurrency) : null,
    rate: max && duration ? { max: Number(max), durationMs: Number(duration) } : null,
  };
}
