import { redisKeys } from '@fencepost/lease/internal/redis';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisMembership } from '@fencepost/jobs/internal';
import { RedisJournal } from '@fencepost/operations/journal';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { redisSpaces } from './redis-space.js';
import { auditTrailContract, KEPT } from '../contracts/audit-trail.contract.js';
import { membershipContract } from '../contracts/membership.contract.js';
import { happened, journalContract } from '../contracts/journal.contract.js';
import { countedRedis } from '../support/counted-redis.js';
import { privateRedis } from '../support/redis.js';
import { catalogContract } from '../contracts/catalog.contract.js';
import { ZONE_DATA } from '../contracts/catalog/stage.js';

const spaces = redisSpaces();

auditTrailContract('the Redis audit trail', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  return {
    trail: new RedisAuditTrail({ redis, keep: KEPT, ...space }),
    elsewhere: new RedisAuditTrail({ redis, keep: KEPT, ...space }),
    now: async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
  };
});

describe('the Redis audit trail', () => {
  const RECORD = { by: 'otto', role: 'operator', action: 'pause', cron: 'report', runId: null } as const;
  const record = { ...RECORD, before: null, after: null, reason: null, from: 'cli host-1' };

  it('is asked with one plain command while nothing is new', async () => {
    const { counting, asked } = countedRedis(spaces.redis());
    const trail = new RedisAuditTrail({ redis: counting, ...spaces.fresh() });
    await trail.append(record);
    await trail.take('take-1');
    asked.length = 0;
    for (const nonce of ['take-2', 'take-3']) expect(await trail.take(nonce)).toEqual([]);
    expect(asked).toEqual(['xrevrange', 'xrevrange']);
  });

  it.each([0, 1])(
    'goes on after what it knows where Redis lost how far it was handed out, and %i records',
    async (kept) => {
      const [redis, space] = [spaces.redis(), spaces.fresh()];
      const trail = new RedisAuditTrail({ redis, ...space });
      for (let n = 0; n < kept; n += 1) await trail.append(record);
      await trail.take('take-1');
      await redis.del(redisKeys(space)('catalog', 'audit-taken'));
      const added = await trail.append(record);
      expect(await trail.take('take-2')).toEqual([added]);
    },
  );
});

membershipContract('the Redis membership', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const key = redisKeys(space);
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  const heartbeats = key('catalog', 'heartbeats');
  // Each call as if from another process: what one has read, it need not read again.
  const ofFormat = (format?: number) =>
    new Proxy({} as RedisMembership, {
      get: (_, call: keyof RedisMembership) => {
        const membership = new RedisMembership({ redis, ...space, ...(format !== undefined && { format }) });
        return membership[call].bind(membership);
      },
    });
  return {
    membership: ofFormat(),
    elsewhere: ofFormat(),
    now,
    change: async () => void (await redis.incr(key('catalog', 'version'))),
    ofFormat,
    unannounced: async (pod) => void (await redis.zadd(key('catalog', 'pods'), await now(), pod)),
    // The entries of a stream are in the order of their ids.
    heardAgo: async (pod, ms) => {
      const at = (await now()) - ms;
      const entries = await redis.xrange(heartbeats, '-', '+');
      const moved = entries.map(([id, fields], n) => ({
        fields,
        ms: fields[1] === pod ? at : Number(id.split('-')[0]),
        n,
      }));
      await redis.del(heartbeats);
      for (const one of moved.toSorted((a, b) => a.ms - b.ms || a.n - b.n)) {
        await redis.xadd(heartbeats, `${one.ms}-${one.n + 1}`, ...one.fields);
      }
    },
    remembered: async () => (await new RedisMembership({ redis, ...space }).heartbeat('a')).members.length,
  };
});

/** Longer than a heartbeat speaks for the worker of its process. */
const LONG_MS = 2_000;

describe('the Redis membership', () => {
  it('is asked with one command for a heartbeat, and with none for the worker of the same process', async () => {
    const { counting, asked } = countedRedis(spaces.redis());
    const membership = new RedisMembership({ redis: counting, ...spaces.fresh() });
    const first = await membership.announce('both');
    await membership.heartbeat('both');
    asked.length = 0;
    const { lowest, catalogVersion, isAlone } = await membership.heartbeat('both');
    expect(await membership.announce('both')).toEqual({ ...lowest, catalogVersion, isAlone });
    await membership.beat('both', 'process');
    expect(asked).toEqual([expect.stringContaining('send-heartbeat')]);
    expect(first).toEqual({ ...lowest, catalogVersion, isAlone });
  });

  it('hears the worker of a pod that has left, or whose heartbeats have ended', async () => {
    const { counting, asked } = countedRedis(spaces.redis());
    const [clock, space] = [new ManualClock(), spaces.fresh()];
    const membership = new RedisMembership({ redis: counting, clock, ...space });
    await membership.heartbeat('both');
    await membership.leave('both');
    asked.length = 0;
    await membership.announce('both');
    expect(asked).toEqual([expect.stringContaining('send-heartbeat')]);
    await membership.heartbeat('both');
    await clock.advance(LONG_MS);
    asked.length = 0;
    await membership.beat('both', 'process');
    expect(asked).toEqual(['xadd']);
  });
});

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
  it('has as many keys for a thousand crons as for a few, and none of a cron', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const crons = Array.from({ length: 1_000 }, (_, n) => `cron-${n}`);
    await new RedisJournal({ redis, ...space }).append(crons.map((cron) => happened('lease.lost', { cron })));
    const keys = await redis.keys(`${space.prefix}:*`);
    expect(keys).toHaveLength(1 + 2 * 16);
    expect(keys.filter((key) => key.includes('cron-'))).toEqual([]);
  });

  it('answers about a cron with two commands, however much is told of its neighbours', async () => {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const journal = new RedisJournal({ redis, ...space });
    for (let n = 0; n < 20; n += 1) {
      await journal.append(
        Array.from({ length: 200 }, (_, one) => happened('lease.lost', { cron: `c-${200 * n + one}` })),
      );
    }
    const { counting, asked } = countedRedis(redis);
    const found = await new RedisJournal({ redis: counting, ...space }).ofCron('c-7', { limit: 50 });
    expect(found.map(({ cron }) => cron)).toEqual(['c-7']);
    expect(asked).toEqual(['zrevrangebylex', 'zrevrangebylex']);
  });

  it('takes a bounded memory, whatever the number of crons', { timeout: 30_000 }, async () => {
    const own = await privateRedis();
    const redis = await connectRedis({ url: own.url, commandTimeoutMs: 5_000, name: 'test' });
    const limits = { maxOverall: 100, maxPerList: 50 };
    const journal = new RedisJournal({ redis, ...spaces.fresh(), limits });
    const usedAfter = async (from: number, to: number) => {
      for (let n = from; n < to; n += 200) {
        const crons = Array.from({ length: 200 }, (_, one) => `cron-${String(n + one).padStart(6, '0')}`);
        await journal.append(crons.map((cron) => happened('lease.lost', { cron })));
      }
      return Number(/used_memory_dataset:(\d+)/.exec(await redis.info('memory'))?.[1]);
    };
    const few = await usedAfter(0, 4_000);
    const many = await usedAfter(4_000, 40_000);
    expect(many - few).toBeLessThan(100_000);
    await closeRedis(redis);
    await own.stop();
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
    await expect(journal.append([happened('lease.lost')])).rejects.toMatchObject({ code: 'JOURNAL_AWAY' });
    await closeRedis(redis);
  });
});

catalogContract('the Redis catalog', async (options) => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const key = (part: string) => redisKeys(space)('catalog', part);
  const tombstones = key('tombstones');
  return {
    catalog: new RedisCatalog({ redis, ...space, zoneData: ZONE_DATA, ...options }),
    elsewhere: new RedisCatalog({ redis, ...space, zoneData: ZONE_DATA, ...options }),
    now: async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
    age: async (ms) => {
      for (const name of await redis.zrange(tombstones, '0', '-1')) await redis.zincrby(tombstones, -ms, name);
    },
    wipe: async () => {
      await redis.del(await redis.keys(key('any').replace(/any$/, '*')));
    },
  };
});
