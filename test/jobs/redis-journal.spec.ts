import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { describe, expect, it } from 'vitest';
import { JournalAwayError } from '../../libs/operations/src/journal/journal-away-error.js';
import { RedisJournal } from '../../libs/operations/src/journal/redis-journal.js';
import { happened, journalContract } from '../contracts/journal.contract.js';
import { privateRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

journalContract('the Redis journal', async (limits) => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  return {
    journal: new RedisJournal({ redis, ...space, limits }),
    elsewhere: new RedisJournal({ redis, ...space, limits }),
    now: async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
    // So much of what is left of each list's life is over.
    pass: async (ms) => {
      for (const key of await redis.keys(`${space.prefix}:*`)) await redis.pexpire(key, (await redis.pttl(key)) - ms);
    },
  };
});

describe('the Redis journal', () => {
  it('keeps what is of a cron in its slot, and what is of all beside the catalog', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const cron = 'catalog';
    await new RedisJournal({ redis, ...space }).append([happened('lease.lost', { cron })]);
    const key = redisKeys(space);
    expect((await redis.keys(`${space.prefix}:*`)).toSorted()).toEqual([
      key('catalog', 'happened'),
      key(cron, 'journal'),
    ]);
  });

  it('passes over what it can not read', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const journal = new RedisJournal({ redis, ...space });
    const list = redisKeys(space)('catalog', 'happened');
    await journal.append([happened('lease.lost')]);
    for (const text of ['{', 'null', '[]', '["a","b",3,"d",null,null,{}]', '["a","b","c","d",null,null,null]'])
      await redis.xadd(list, '*', 'e', text);
    await redis.xadd(list, '*', 'other', 'x');
    await journal.append([happened('lease.released')]);
    const found = await journal.latest({ limit: 10 });
    expect(found.map(({ event }) => event)).toEqual(['lease.released', 'lease.lost']);
  });

  it('is not asked while there is no connection: what waits for one would be kept in memory', async () => {
    const own = await privateRedis();
    const redis = await connectRedis({ url: own.url, commandTimeoutMs: 1_000, name: 'test' });
    const journal = new RedisJournal({ redis, ...spaces.fresh() });
    await own.stop();
    await expect.poll(() => redis.status).not.toBe('ready');
    await expect(journal.append([happened('lease.lost')])).rejects.toThrow(JournalAwayError);
    await closeRedis(redis);
  });
});
