import type { RedisClient } from '@fencepost/lease/redis';
import type { Redis, RedisOptions } from 'ioredis';

export interface RedisCopyOptions {
  /** What `CLIENT LIST` shows for the connection. */
  readonly name: string;
  /** No command waits longer, milliseconds. */
  readonly commandTimeoutMs: number;
  /** One server's connection that is silent for so long while something is asked is given up, milliseconds. */
  readonly patienceMs: number;
  /** Whether it connects when it is first asked, and not at once. */
  readonly isLazy?: boolean;
}

/**
 * Another connection to where the first one goes: one server, the primary that sentinels watch, or a cluster. It stays the
 * caller's to close.
 *
 * A host that vanishes closes nothing. Without an end to its patience a connection would stay with a primary that is gone for as
 * long as the operating system repeats what it can't deliver, a quarter of an hour, when sentinels have long chosen another. A
 * cluster's connections end when its other nodes say that one has failed.
 */
export function copyOf(redis: RedisClient, options: RedisCopyOptions): RedisClient {
  const { name, commandTimeoutMs: commandTimeout, patienceMs: socketTimeout, isLazy: lazyConnect = false } = options;
  const over = { connectionName: name, commandTimeout };
  return 'nodes' in redis
    ? redis.duplicate([], { redisOptions: over, lazyConnect })
    : redis.duplicate({ ...over, socketTimeout, lazyConnect });
}

/** Longer than a worker's blocking fetch (10 s at the most), short enough to notice a server that froze. */
const FETCH_MS = 15_000;
const WORKER_PATIENCE_MS = 5_000;

/** For a worker of BullMQ: its fetch has to outlive a reconnection, so it may be sent again as often as it takes. */
export function workerCopyOf(redis: RedisClient): RedisClient {
  const over = { connectionName: 'fencepost-worker', commandTimeout: FETCH_MS, maxRetriesPerRequest: null };
  if ('nodes' in redis) return redis.duplicate([], { redisOptions: over });
  const worker: Redis = redis.duplicate({ ...over, socketTimeout: WORKER_PATIENCE_MS });
  const duplicate = worker.duplicate.bind(worker) as (override: RedisOptions) => Redis;
  // BullMQ waits for jobs on a copy, which hears nothing for as long as there are none.
  const blocking = (override: RedisOptions = {}) => duplicate({ socketTimeout: FETCH_MS, ...override });
  return Object.assign(worker, { duplicate: blocking });
}

/** How long a command may take on a connection that was opened for leases, milliseconds. */
export function commandTimeoutOf(redis: RedisClient): number {
  // A cluster bounds its commands itself, and keeps that to itself.
  return ('nodes' in redis ? undefined : redis.options.commandTimeout) ?? USUAL_MS;
}

const USUAL_MS = 2_000;
