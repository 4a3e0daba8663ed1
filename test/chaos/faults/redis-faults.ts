import type { Cluster, Redis } from 'ioredis';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { between } from '../draw.js';
import type { ChaosRedis } from '../chaos-redis.js';
import type { Fault } from '../fault.js';
import { storeFault } from '../fault.js';

const FROZEN_MS = { least: 300, most: 3_000 };
const DOWN_MS = { least: 100, most: 1_500 };
export const CLOCK_STEP_MS = { least: 500, most: 4_000 };
const CLOCK_WRONG_MS = { least: 500, most: 3_000 };

/** What a Redis survives without losing anything it acknowledged, when it appends each write to a file. */
export function redisOutages(redis: ChaosRedis): Fault[] {
  return [
    storeFault('redis-frozen', async (signal, random) => {
      redis.freeze();
      await sleep(systemClock, between(FROZEN_MS, random), signal);
      redis.thaw();
    }),
    storeFault('redis-killed', async (signal, random) => {
      await redis.kill();
      await sleep(systemClock, between(DOWN_MS, random), signal);
      await redis.restart();
    }),
  ];
}

/** What one that wipes all of a topology is called, and one that wipes its only server. */
export const WIPED = 'redis-wiped';

/** All primaries at the same moment; a connection that finds none of them doesn't strike. */
export function redisWipes(redis: RedisClient): Fault {
  const strike = async () => {
    const primaries = redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
    const wiped = await Promise.allSettled(primaries.map((node) => node.flushall()));
    return wiped.some(({ status }) => status === 'fulfilled');
  };
  return { kind: WIPED, target: 'store', strike };
}

/** What takes along what Redis had acknowledged. */
export function redisLosses(redis: ChaosRedis): Fault[] {
  return [
    storeFault(WIPED, () => redis.wipe()),
    storeFault('redis-restarted-empty', async (signal, random) => {
      await redis.kill();
      await sleep(systemClock, between(DOWN_MS, random), signal);
      await redis.restart('empty');
    }),
  ];
}

/** A wall clock that is corrected, in either direction, and corrected back. */
export function redisClockFaults(redis: ChaosRedis): Fault[] {
  if (!redis.clock) return [];
  const { clock } = redis;
  return ([1, -1] as const).map((direction) =>
    storeFault(direction === 1 ? 'redis-clock-ahead' : 'redis-clock-back', async (signal, random) => {
      clock.setAhead(direction * Math.round(between(CLOCK_STEP_MS, random)));
      await sleep(systemClock, between(CLOCK_WRONG_MS, random), signal);
      clock.setAhead(0);
    }),
  );
}
