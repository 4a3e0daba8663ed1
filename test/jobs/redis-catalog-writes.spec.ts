import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { readChanges } from '@fencepost/ledger/catalog';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { briefly, by, cron, entryOf, order, OTHER, THIRD, told } from '../contracts/catalog/stage.js';
import { privateRedis, testRedis, type PrivateRedis } from '../support/redis.js';
import { replyDroppingProxy } from '../support/proxies.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const MANY = Array.from({ length: 1_201 }, (_, n) => cron({ name: `cron-${String(n).padStart(4, '0')}` }));

describe('a server of its own', () => {
  const space = { prefix: 'own', tenant: 'default' };
  let server: PrivateRedis;
  let redis: Redis;
  let catalog: RedisCatalog;
  beforeAll(async () => {
    server = await privateRedis();
    redis = new Redis(server.url);
  });
  beforeEach(async () => {
    await redis.flushall();
    catalog = new RedisCatalog({ redis, ...space });
  });
  afterAll(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  /** How many keys were written, and how many scripts were run, while `action` was. */
  async function costOf(action: () => Promise<unknown>): Promise<{ written: number; scripts: number }> {
    await redis.config('RESETSTAT');
    const before = await dirty();
    await action();
    const stats = await redis.info('commandstats');
    const calls = [...stats.matchAll(/^cmdstat_(?:eval|evalsha):calls=(\d+)/gm)].map(([, count]) => Number(count));
    return { written: (await dirty()) - before, scripts: calls.reduce((sum, count) => sum + count, 0) };
  }

  async function dirty(): Promise<number> {
    return Number(/rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))?.[1]);
  }

  it('is read in pages when it has many crons, as it is read at once', async () => {
    await catalog.declare(MANY, by(1));
    await catalog.read();
    const { scripts } = await costOf(() => catalog.read());
    expect(scripts).toBeGreaterThanOrEqual(Math.ceil(MANY.length / 500));
    const reading = await catalog.read();
    expect(reading.entries.map(({ definition }) => definition.name)).toEqual(
      MANY.map(({ definition }) => definition.name).toSorted(),
    );
    expect(reading).toMatchObject({ version: (await catalog.read([])).version, unreadable: [] });
    expect(reading.entries[7]).toStrictEqual((await catalog.read(['cron-0007'])).entries[0]);
  });

  it('is asked for one of many crons, and answers with no other', async () => {
    await catalog.declare(MANY, by(1));
    const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1]);
    const bytesOf = async (read: () => Promise<unknown>) => {
      const before = await sent();
      await read();
      return (await sent()) - before;
    };
    const all = await bytesOf(() => catalog.read());
    const one = await bytesOf(() => catalog.read(['cron-0007']));
    expect(all).toBeGreaterThan(MANY.length * 100);
    // The figures that are asked for are most of it.
    expect(one).toBeLessThan(10_000);
  });

  it('has nothing written by a declaration that changes nothing, at one script for 500 crons', async () => {
    const few = MANY.slice(0, 500);
    expect((await costOf(() => catalog.declare(few, by(1)))).written).toBeGreaterThan(500);
    // Once to have the script sent and known.
    await catalog.declare(few, by(1));
    expect(await costOf(() => catalog.declare(few, by(1)))).toEqual({ written: 0, scripts: 1 });
    expect(await costOf(() => catalog.declare(few, by(0)))).toEqual({ written: 0, scripts: 1 });
    expect(await costOf(() => catalog.declare(few, by(3, 'other')))).toEqual({ written: 0, scripts: 1 });
    expect(await costOf(() => catalog.declare([], by(9)))).toEqual({ written: 0, scripts: 0 });
    expect(await costOf(() => catalog.read())).toMatchObject({ written: 0 });
    await catalog.declare(MANY, by(4));
    expect(await costOf(() => catalog.declare(MANY, by(4)))).toEqual({ written: 0, scripts: 3 });
  });

  it('that lost everything never shows a version again that a pod may know', async () => {
    await catalog.declare([cron()], by(1));
    await catalog.declare([cron(OTHER)], by(2));
    const { version } = await catalog.read();
    await redis.flushall();
    await catalog.declare([cron()], by(1));
    expect((await catalog.read()).version).toBeGreaterThan(version);
  });
});

describe('the Redis catalog', () => {
  it('is declared to by twenty processes of two revisions at once, and each of both defines once', async () => {
    const space = spaces.fresh();
    const options = { url: testRedis(), commandTimeoutMs: 5_000, name: 'test' };
    const clients = await Promise.all(Array.from({ length: 20 }, () => connectRedis(options)));
    const replies = await Promise.all(
      clients.map((redis, n) => {
        const revision = 1 + (n % 2);
        return new RedisCatalog({ redis, ...space }).declare([cron(revision === 1 ? {} : OTHER)], by(revision));
      }),
    );
    const begins = (word?: string) => word === 'created' || word === 'changed';
    const changed = replies.flatMap(([reply], n) => (begins(reply?.word) ? [1 + (n % 2)] : []));
    // The new revision may have been faster than the first process of the old one.
    expect([[1, 2], [2]]).toContainEqual(changed.toSorted((a, b) => a - b));
    const { definition, generation } = await entryOf(new RedisCatalog({ redis: spaces.redis(), ...space }));
    expect([definition.expression, generation]).toEqual([OTHER.expression, changed.length]);
    await Promise.all(clients.map((client) => closeRedis(client)));
  });

  it('is gone on with by the next declaration after a crash between two scripts of a large one', async () => {
    const space = spaces.fresh();
    const catalog = new RedisCatalog({ redis: spaces.redis(), ...space });
    const [old, next] = [MANY, MANY.map(({ definition }) => cron({ ...definition, ...OTHER }))];
    await catalog.declare(old, by(1));
    const crashing = new RedisCatalog({ redis: crashingAt(spaces.redis(), 2), ...space });
    await expect(crashing.declare(next, by(2))).rejects.toThrow('crashed');

    const states = Object.values(await briefly(catalog));
    expect(states.filter((state) => state === 'active 2 0 4 * * *')).toHaveLength(250);
    expect(states.filter((state) => state === 'active 1 0 3 * * *')).toHaveLength(951);
    // The revision before does not take back what is written already.
    const older = Object.values(told(await catalog.declare(old, by(1))));
    expect([older.length, new Set(older)]).toEqual([250, new Set(['superseded 2'])]);

    const rest = Object.values(told(await catalog.declare(next, by(2))));
    expect([rest.length, new Set(rest)]).toEqual([951, new Set(['changed'])]);
    expect(told(await catalog.declare(next, by(2)))).toEqual({});
    expect(Object.keys(told(await catalog.declare(old, by(1))))).toHaveLength(1_201);
  });

  it('accepts a change once when its reply got lost and the connection sends it again', async () => {
    const space = spaces.fresh();
    const proxy = await replyDroppingProxy(testRedis());
    const redis = await connectRedis({ url: proxy.url, commandTimeoutMs: 5_000, name: 'test' });
    const catalog = new RedisCatalog({ redis, ...space });
    await catalog.declare([cron()], by(1));
    proxy.dropNextReply();
    expect(await catalog.put(cron(OTHER), order(1))).toMatchObject({ verdict: 'accepted', generation: 2 });
    expect(proxy.dropped).toBe(1);
    expect(await briefly(catalog)).toEqual({ 'nightly-report': 'active 2 0 4 * * *' });
    await closeRedis(redis);
    await proxy.close();
  });

  /** As a former release writes it: a new version, and no list of changes. */
  async function changedByFormerRelease(redis: Redis, space: { prefix: string; tenant: string }, name: string) {
    const key = (part: string) => redisKeys(space)('catalog', part);
    const lines = (await redis.hget(key('crons'), name)) ?? '';
    await redis.hset(key('crons'), name, lines.replace(/^\d+/, '7').replace('0 3 * * *', '0 5 * * *'));
    await redis.incr(key('version'));
  }

  it('is read as a whole after a former release changed it, by every reader that may have missed that', async () => {
    const [space, redis] = [spaces.fresh(), spaces.redis()];
    const catalog = new RedisCatalog({ redis, ...space });
    await catalog.declare([cron(), cron({ name: 'b' })], by(1));
    const { version } = await catalog.read([]);
    await changedByFormerRelease(redis, space, 'nightly-report');
    expect(await catalog.since(version)).toBeNull();
    const { version: theirs } = await catalog.read([]);
    await catalog.put(cron({ name: 'b', ...OTHER }), order(1));
    expect(await catalog.since(version)).toBeNull();
    expect(await catalog.since(theirs)).toBeNull();
    const { entries, whole } = await readChanges(catalog, version);
    expect(whole).toBe(true);
    expect(entries.get('nightly-report')).toMatchObject({ generation: 7, definition: THIRD });
    // From then on, changes are known again.
    const { version: known } = await catalog.read([]);
    await catalog.put(cron({ name: 'c' }), order(null));
    expect((await catalog.since(known))?.entries).toHaveLength(1);
  });

  it('of a former release is read as a whole, though nothing has a version of its own', async () => {
    const [space, redis] = [spaces.fresh(), spaces.redis()];
    const catalog = new RedisCatalog({ redis, ...space });
    await catalog.declare(MANY, by(1));
    await redis.del(redisKeys(space)('catalog', 'changes'));
    const { entries, version } = await readChanges(catalog, null);
    expect(entries.size).toBe(MANY.length);
    expect(await catalog.since(version)).toMatchObject({ entries: [], gone: [] });
  });

  it('is read as a whole by a reader whose version a failover lost', async () => {
    const [space, redis] = [spaces.fresh(), spaces.redis()];
    const catalog = new RedisCatalog({ redis, ...space });
    await catalog.declare([cron(), cron({ name: 'b' })], by(1));
    const keys = await redis.keys(redisKeys(space)('catalog', 'any').replace(/any$/, '*'));
    const copies = await Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)] as const));
    await catalog.put(cron(OTHER), order(1));
    const { version } = await catalog.read([]);
    await redis.del(keys);
    for (const [key, copy] of copies) await redis.restore(key, 0, copy);
    await catalog.put(cron({ name: 'b', ...OTHER }), order(1));
    expect(await catalog.since(version)).toBeNull();
    expect((await readChanges(catalog, version)).entries.get('nightly-report')).toMatchObject({ generation: 1 });
  });

  it('begins no generation before the one it follows, when the clock of the server went back', async () => {
    const [space, redis] = [spaces.fresh(), spaces.redis()];
    const catalog = new RedisCatalog({ redis, ...space });
    await catalog.declare([cron()], by(1));
    const crons = redisKeys(space)('catalog', 'crons');
    const [generation, since, ...rest] = (await redis.hget(crons, 'nightly-report'))!.split('\t');
    const ahead = Number(since) + 60_000;
    await redis.hset(crons, 'nightly-report', [generation, ahead, ...rest].join('\t'));
    await catalog.declare([cron(OTHER)], by(2));
    await catalog.put(cron(THIRD), order(2));
    const entry = await entryOf(catalog);
    expect([...entry.past, entry].map((one) => one.since)).toEqual([ahead, ahead, ahead]);
  });
});

/** A client whose process ends before it sends a declaration for the `n`-th time. */
function crashingAt(redis: Redis, n: number): RedisClient {
  let sent = 0;
  return new Proxy(redis, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (!String(name).startsWith('fencepost:declare-crons:')) return own;
      sent += 1;
      return sent < n ? own : () => Promise.reject(new Error('crashed'));
    },
  });
}
