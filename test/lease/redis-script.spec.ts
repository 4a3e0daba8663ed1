import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisScript } from '@fencepost/lease/internal/redis';
import { closeRedis } from '@fencepost/lease/redis';
import { freshPrefix, privateRedis } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';

// A server of its own: the tests flush scripts and read the command counters.
let server: PrivateRedis;
let redis: Redis;
beforeAll(async () => {
  server = await privateRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  await closeRedis(redis);
  await server.stop();
});

function script(): RedisScript {
  return new RedisScript('add', `-- ${freshPrefix()}\nreturn redis.call('INCRBY', KEYS[1], ARGV[1])`);
}

async function sent(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

describe('RedisScript', () => {
  it('sends its text once per connection, and its hash from then on', async () => {
    const add = script();
    const before = [await sent('eval'), await sent('evalsha')] as const;
    for (let n = 0; n < 3; n++) await add.run(redis, ['once'], [1]);
    expect([await sent('eval'), await sent('evalsha')]).toEqual([before[0] + 1, before[1] + 2]);
  });

  it('answers each of many calls issued in one turn', async () => {
    const add = script();
    const replies = await Promise.all(Array.from({ length: 200 }, () => add.run(redis, ['turn'], [1])));
    expect(replies).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  });

  it('leaves in one write with all else that is sent in the same turn, and holds nothing back after it', async () => {
    const add = script();
    await add.run(redis, ['corked'], [1]);
    const turn = Promise.all([add.run(redis, ['corked'], [1]), redis.get('corked'), add.run(redis, ['corked'], [1])]);
    expect(redis.stream).toMatchObject({ writableCorked: 1, bytesWritten: expect.any(Number) });
    expect(await turn).toEqual([2, '2', 3]);
    expect(redis.stream.writableCorked).toBe(0);
  });

  it('runs again by itself after the server has forgotten it, each of many calls once', async () => {
    const add = script();
    await add.run(redis, ['flushed'], [1]);
    await redis.script('FLUSH');
    await Promise.all(Array.from({ length: 200 }, () => add.run(redis, ['flushed'], [1])));
    expect(await redis.get('flushed')).toBe('201');
  });

  it('works on two connections, one of which has never seen it', async () => {
    const add = script();
    const other = new Redis(server.url);
    expect([await add.run(redis, ['two'], [1]), await add.run(other, ['two'], [1])]).toEqual([1, 2]);
    await closeRedis(other);
  });
});
