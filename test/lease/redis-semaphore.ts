import { expect } from 'vitest';
import { RedisSemaphoreStore } from '@fencepost/lease/coordination';
import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { SemaphoreStoreHarness } from '../contracts/semaphore-harness.js';

const TERM = /^(\d+) (.*)$/s;

/** Moves the ends of all terms of a resource, which is what a step of the server's clock comes to. */
async function shiftEnds(redis: RedisClient, key: string, ms: number): Promise<void> {
  const terms = Object.entries(await redis.hgetall(key));
  for (const [nonce, text] of terms) {
    const [, ends, rest] = TERM.exec(text) ?? [];
    await redis.hset(key, nonce, `${Number(ends) + ms} ${rest}`);
  }
  // The key would end with its terms; it may not end before the test does.
  if (terms.length > 0) await redis.pexpire(key, Math.max(await redis.pttl(key), (await redis.pttl(key)) + ms));
}

export interface HarnessOptions extends KeySpace {
  readonly redis: RedisClient;
  readonly forgetAfterMs?: number;
  /** Removes everything below the prefix. */
  readonly forget: () => Promise<void>;
}

export function redisSemaphoreHarness({
  redis,
  forget,
  forgetAfterMs,
  ...space
}: HarnessOptions): SemaphoreStoreHarness {
  const key = redisKeys(space);
  const store = new RedisSemaphoreStore({ redis, ...space, ...(forgetAfterMs === undefined ? {} : { forgetAfterMs }) });
  return {
    store,
    // Asked again and again rather than waited for once: a term ends by the server's clock, not by this one.
    untilFree: async (resource) => {
      await expect.poll(() => store.inspect([resource]), { interval: 5, timeout: 5_000 }).toEqual([null]);
    },
    clockGoesBack: (resource, ms) => shiftEnds(redis, key(resource, 'places'), ms),
    lose: forget,
    close: forget,
  };
}
