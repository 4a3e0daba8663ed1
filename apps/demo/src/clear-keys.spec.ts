import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, testRedis } from '../../../test/support/redis.js';
import { clearKeys } from './clear-keys.js';

type Redis = Awaited<ReturnType<typeof connectRedis>>;

describe('clearing up after a demo', () => {
  const space = { prefix: freshPrefix(), tenant: 'demo' };
  let redis: Redis;

  beforeEach(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: space.prefix });
  });

  afterEach(async () => {
    await closeRedis(redis);
  });

  it('removes all keys of its prefix, those of the queue too, and none of anybody else', async () => {
    const own = [`${space.prefix}:v1:{demo:pulse}:cron`, `{${space.prefix}:demo}:runs:meta`];
    const foreign = [
      `other-${space.prefix}:v1:{demo:pulse}:cron`,
      `{${space.prefix}:other}:runs:meta`,
      `${space.prefix}:v1:{default:pulse}:cron`,
      `${space.prefix}x:1`,
    ];
    const many = Array.from({ length: 2_500 }, (_, n) => `${space.prefix}:v1:{demo:pulse}:run:${n}`);
    await redis.mset([...own, ...foreign, ...many].flatMap((key) => [key, '1']));
    expect(await clearKeys(redis, space)).toBe(own.length + many.length);
    expect(await redis.exists([...own, ...many])).toBe(0);
    expect(await redis.unlink(foreign)).toBe(foreign.length);
  });
});
