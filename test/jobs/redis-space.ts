import type { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

/**
 * A connection for the file, and prefixes that are cleared at its end.
 * @param url a server of the file's own, for a test that looks at all there is
 */
export function redisSpaces(url = testRedis): { redis(): Redis; fresh(): { prefix: string; tenant: string } } {
  let redis: Redis | undefined;
  const prefixes: string[] = [];
  const connection = () => {
    if (!redis) throw new Error('Expected to be called from within a test.');
    return redis;
  };
  beforeAll(async () => {
    redis = await connectRedis({ url: url(), commandTimeoutMs: 5_000, name: 'test' });
  });
  afterAll(async () => {
    await clearPrefixes(connection(), prefixes);
    await closeRedis(connection());
  });
  return {
    redis: connection,
    fresh: () => {
      const prefix = freshPrefix();
      prefixes.push(prefix);
      return { prefix, tenant: 'default' };
    },
  };
}
