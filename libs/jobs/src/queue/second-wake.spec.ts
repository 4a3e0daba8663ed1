import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { SecondWake } from './second-wake.js';

const spaces = redisSpaces();

function staged() {
  const [redis, clock, { prefix }] = [spaces.redis(), new ManualClock(), spaces.fresh()];
  const toKey = (queue: string, part: string) => `{${prefix}}:${queue}:${part}`;
  const wake = new SecondWake({ redis, clock, toKey });
  const popped = () => redis.zpopmin(toKey('q', 'marker'));
  /** A second, and the replies to what was sent in it. */
  const second = async () => {
    await clock.advance(1_000);
    await redis.ping();
    await redis.ping();
  };
  return { redis, clock, wake, popped, second, key: (part: string) => toKey('q', part) };
}

describe('SecondWake', () => {
  it('wakes another worker each second while jobs wait, and stops when they are taken', async () => {
    const { redis, clock, wake, popped, second, key } = staged();
    await redis.lpush(key('wait'), 'job');
    wake.note(['q']);
    await second();
    expect(await popped()).toEqual(['0', '0']);
    await second();
    expect(await popped()).toEqual(['0', '0']);
    await redis.del(key('wait'));
    await second();
    expect(await popped()).toEqual([]);
    expect(clock.pending).toBe(0);
    wake.stop();
  });

  it('wakes for jobs with a priority, and not for those of a paused queue', async () => {
    const { redis, clock, wake, popped, second, key } = staged();
    await redis.zadd(key('prioritized'), 1, 'job');
    wake.note(['q']);
    await second();
    expect(await popped()).toEqual(['0', '0']);
    await redis.hset(key('meta'), 'paused', 1);
    await second();
    expect(await popped()).toEqual([]);
    expect(clock.pending).toBe(0);
    wake.stop();
  });

  it('leaves busy workers alone after ten seconds', async () => {
    const { redis, clock, wake, second, key } = staged();
    await redis.lpush(key('wait'), 'job');
    wake.note(['q']);
    for (let seconds = 0; seconds < 10; seconds += 1) await second();
    expect(clock.pending).toBe(0);
    wake.stop();
  });
});
