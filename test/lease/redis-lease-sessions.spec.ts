import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_FENCE, parseFence } from '@fencepost/lease';
import type { Fence } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { clearPrefixes, freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';

const TTL_MS = 10_000;

let server: PrivateRedis;
let redis: Redis;
let space: { prefix: string; tenant: string };
let key: (resource: string, part: string) => string;
let store: RedisLeaseStore;

beforeAll(async () => {
  // A server of its own: the tests read its counters and set its keys.
  server = await privateRedis();
  redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
});

beforeEach(() => {
  space = { prefix: freshPrefix(), tenant: 'default' };
  key = redisKeys(space);
  store = new RedisLeaseStore({ redis, ...space });
});

afterEach(() => clearPrefixes(redis, [space.prefix]));

afterAll(async () => {
  await closeRedis(redis);
  await server.stop();
});

async function opened(holder = 'pod/1', ttlMs = TTL_MS) {
  const session = { nonce: randomUUID(), holder, ttlMs };
  await store.sessions.open(session);
  return session;
}

function wanted(resource: string, floor: Fence = NO_FENCE) {
  return { resource, nonce: randomUUID(), floor };
}

async function commandsFor(ask: () => Promise<unknown>): Promise<Record<string, number>> {
  await redis.config('RESETSTAT');
  await ask();
  const counted = (await redis.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g);
  return Object.fromEntries([...counted].map(([, name = '', calls]) => [name, Number(calls)]));
}

describe('a session in Redis', () => {
  it('is renewed with one command, whatever the number of its terms', async () => {
    const session = await opened();
    const asked = Array.from({ length: 500 }, (_, n) => wanted(`r${n}`));
    await store.sessions.acquire(session, asked);
    await store.sessions.renew(session, []);
    const { config: _, ...commands } = await commandsFor(() => store.sessions.renew(session, []));
    expect(commands).toEqual({ evalsha: 1, pexpire: 1, hgetall: 1 });
  });

  it('costs an idle resource one key and less than 400 bytes', async () => {
    const session = await opened();
    const asked = Array.from({ length: 200 }, (_, n) => wanted(`a-tenant:a-nightly-report-${n}`));
    await store.sessions.acquire(session, asked);
    const sizes = await Promise.all(asked.map(({ resource }) => redis.memory('USAGE', key(resource, 'lease'))));
    expect(Math.max(...sizes.map(Number))).toBeLessThan(400);
    expect(await redis.exists(...asked.map(({ resource }) => key(resource, 'fence')))).toBe(0);
  });

  it('leaves the fence in the counter when one of its terms ends, and takes it back with the next', async () => {
    const session = await opened();
    const floor = parseFence('8000000000000000');
    const asked = wanted('r', floor);
    await store.sessions.acquire(session, [asked]);
    expect(await redis.ttl(key('r', 'lease'))).toBe(-1);
    await store.release([asked]);
    expect(await redis.exists(key('r', 'lease'))).toBe(0);
    expect(await redis.get(key('r', 'fence'))).toBe(String(floor + 1));
    await store.sessions.acquire(session, [wanted('r')]);
    expect(await redis.exists(key('r', 'fence'))).toBe(0);
    expect((await store.inspect(['r']))[0]?.fence).toBe(floor + 2);
    await store.evict('r', (floor + 2) as Fence);
    expect(await redis.get(key('r', 'fence'))).toBe(String(floor + 2));
  });

  it('is looked at once for all of its terms, and named with the next requests once it is known to be over', async () => {
    const dead = await opened();
    const names = Array.from({ length: 300 }, (_, n) => `r${n}`);
    await store.sessions.acquire(
      dead,
      names.map((name) => wanted(name)),
    );
    await redis.del(key(dead.nonce, 'session'));
    const session = await opened('pod/2');
    const first = await commandsFor(() =>
      store.sessions.acquire(
        session,
        names.slice(0, 150).map((name) => wanted(name)),
      ),
    );
    // The own session, one look at the other one, and two scripts for the terms.
    expect((first['evalsha'] ?? 0) + (first['eval'] ?? 0)).toBe(4);
    const rest = names.slice(150).map((name) => wanted(name));
    const second = await commandsFor(() => store.sessions.acquire(session, rest));
    expect(second['evalsha']).toBe(2);
    const holders = (await store.inspect(names)).map((holding) => holding?.holder);
    expect(new Set(holders)).toEqual(new Set(['pod/2']));
  });

  it('acquires two hundred with one command for each of what is done, and not one for each lease', async () => {
    const session = await opened();
    const asked = Array.from({ length: 200 }, (_, n) => wanted(`r${n}`));
    await store.sessions.acquire(session, [wanted('warm')]);
    const { mget, exists, time, mset, get, set } = await commandsFor(() => store.sessions.acquire(session, asked));
    expect({ mget, exists, time, mset, get, set }).toEqual({ mget: 1, exists: 1, time: 1, mset: 1 });
  });

  it('gives a lease once, also to a call that asks for it twice', async () => {
    const asked = ['r', 'a', 'r'].map((name) => wanted(name));
    const replies = await store.sessions.acquire(await opened(), asked);
    expect(replies.map(({ acquired }) => acquired)).toEqual([true, true, false]);
  });

  it('says each fence of a call in which some have floors, and some are held', async () => {
    const [session, other] = [await opened(), await opened('pod/2')];
    await store.sessions.acquire(other, [wanted('held')]);
    const floor = parseFence('9000000000000000');
    const [free, high, held] = await store.sessions.acquire(session, [wanted('a'), wanted('b', floor), wanted('held')]);
    expect(free?.acquired && free.fence).toBe((await store.inspect(['a']))[0]?.fence);
    expect(high).toMatchObject({ acquired: true, fence: parseFence('9000000000000001') });
    expect(held).toMatchObject({ acquired: false });
  });

  it('keeps a term that changed hands after its session was found to be over', async () => {
    const dead = await opened();
    const [other, late] = [new RedisLeaseStore({ redis, ...space }), store];
    await late.sessions.acquire(dead, [wanted('r'), wanted('a')]);
    await late.sessions.close(dead);
    const [quick, slow] = [await opened('pod/2'), await opened('pod/3')];
    const [reply] = await other.sessions.acquire(quick, [wanted('r')]);
    // It knows of the end of the first session, and names it; the term names another one by now.
    const [refused] = await late.sessions.acquire(slow, [wanted('r')]);
    expect(refused).toMatchObject({ acquired: false });
    expect((await late.inspect(['r']))[0]?.fence).toBe(reply?.acquired && reply.fence);
  });

  it('is cut to its ttl where a clock that went back has left more, by who wants one of its terms', async () => {
    const session = await opened();
    await store.sessions.acquire(session, [wanted('r')]);
    await redis.pexpire(key(session.nonce, 'session'), 10 * TTL_MS);
    const [reply] = await store.sessions.acquire(await opened('pod/2'), [wanted('r')]);
    expect(reply?.acquired === false && reply.remainingMs).toBeLessThanOrEqual(TTL_MS);
    expect(await redis.pttl(key(session.nonce, 'session'))).toBeLessThanOrEqual(TTL_MS);
  });

  it('never gets an expiry on a term: not by a renewal, not by a contender with a ttl of its own', async () => {
    const asked = wanted('r');
    await store.sessions.acquire(await opened(), [asked]);
    expect(await store.renew([asked], TTL_MS)).toEqual([false]);
    await store.acquire({ ...wanted('r'), holder: 'pod/2', ttlMs: TTL_MS });
    expect(await redis.pttl(key('r', 'lease'))).toBe(-1);
  });

  it('keeps a bounded number of notes about terms that were taken', async () => {
    const session = await opened();
    const asked = Array.from({ length: 510 }, (_, n) => wanted(`r${n}`));
    const replies = await store.sessions.acquire(session, asked);
    await Promise.all(replies.map((reply, n) => store.evict(`r${n}`, reply.acquired ? reply.fence : NO_FENCE)));
    const { revoked } = await store.sessions.renew(session, []);
    expect(revoked).toHaveLength(500);
    expect(await store.sessions.renew(session, revoked)).toEqual({ live: true, revoked: [] });
    // The notes go with the session.
    await store.sessions.close(session);
    expect(await redis.exists(key(session.nonce, 'session'))).toBe(0);
  });

  it('acquires all but a lease whose key holds something else', async () => {
    const session = await opened();
    await redis.lpush(key('b', 'lease'), 'a stranger');
    const warned: string[] = [];
    const warn = ({ message }: Error) => void warned.push(message);
    process.on('warning', warn);
    const replies = await store.sessions.acquire(
      session,
      ['a', 'b', 'c'].map((name) => wanted(name)),
    );
    expect(replies.map(({ acquired }) => acquired)).toEqual([true, false, true]);
    await expect.poll(() => warned).toEqual([expect.stringContaining('The lease of b can not be read')]);
    process.off('warning', warn);
  });
});
