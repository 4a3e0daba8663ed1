import { describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { definitionSet, readChanges } from '@fencepost/ledger/catalog';
import { PostgresAuditTrail, PostgresCatalog, listTenants, openPostgresCatalog } from '@fencepost/ledger/postgres';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { auditTrailContract, KEPT } from '../contracts/audit-trail.contract.js';
import { catalogContract } from '../contracts/catalog.contract.js';
import { ZONE_DATA, by, cron, gone, named, order, OTHER } from '../contracts/catalog/stage.js';
import { usePostgresLedger } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

describe('the PostgreSQL catalog', () => {
  const postgres = usePostgresLedger();

  const fresh = () => ({ pool: postgres.sandbox.pool, schema: postgres.sandbox.schema, ...spaces.fresh() });

  catalogContract('the PostgreSQL catalog', async (limits) => {
    const options = { ...fresh(), redis: spaces.redis(), zoneData: ZONE_DATA, ...limits };
    const space = `${options.prefix}:${options.tenant}`;
    return {
      catalog: new PostgresCatalog(options),
      elsewhere: new PostgresCatalog(options),
      now: () => postgres.sandbox.now(),
      age: async (ms) => {
        await postgres.sandbox.pool.query(
          `update "${postgres.sandbox.schema}".catalog_cron set delete_at = delete_at - $2 where space = $1`,
          [space, ms],
        );
      },
      wipe: async () => {
        for (const table of ['state', 'cron', 'generation', 'build', 'revision', 'revision_set', 'forgotten', 'change'])
          await postgres.sandbox.pool.query(
            `delete from "${postgres.sandbox.schema}".catalog_${table} where space = $1`,
            [space],
          );
      },
    };
  });

  it('looks up one of many crons by its key', async () => {
    const { pool, schema } = postgres.sandbox;
    const space = { ...fresh(), redis: spaces.redis() };
    const catalog = new PostgresCatalog(space);
    const names = Array.from({ length: 1_200 }, (_, n) => `cron-${n}`);
    await catalog.declare(named(...names), by(1));
    const own = postgres.sandbox.another({ connectionString: (await postgresForTests()).url, max: 1 });
    const asked = new PostgresCatalog({ ...space, pool: own });
    const rows = async () => {
      for (const session of [pool, own]) await session.query('select pg_stat_force_next_flush()');
      const { rows: counted } = await pool.query<{ read: number }>(
        `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_user_tables
         where schemaname = $1 and relname in ('catalog_cron', 'catalog_generation')`,
        [schema],
      );
      return counted[0]?.read ?? NaN;
    };
    await asked.read(['cron-7']);
    const before = await rows();
    for (let n = 0; n < 10; n += 1) await asked.read(['cron-7']);
    expect((await rows()) - before).toBeLessThanOrEqual(40);
  });

  it('is read as a whole after an earlier build changed it, by every reader that may have missed that', async () => {
    const options = { ...fresh(), redis: spaces.redis() };
    const { pool, schema } = postgres.sandbox;
    const space = `${options.prefix}:${options.tenant}`;
    const catalog = new PostgresCatalog(options);
    await catalog.declare(named('a', 'b'), by(1));
    const { version } = await catalog.read([]);
    // A new version, and no change beside it.
    await pool.query(`update "${schema}".catalog_generation set generation = 7 where space = $1 and cron = 'a'`, [
      space,
    ]);
    await pool.query(`update "${schema}".catalog_state set version = version + 1 where space = $1`, [space]);
    expect(await catalog.since(version)).toBeNull();
    await catalog.put(cron({ name: 'b', ...OTHER }), order(1));
    expect(await catalog.since(version)).toBeNull();
    const { entries, whole, version: known } = await readChanges(catalog, version);
    expect([whole, entries.get('a')?.generation]).toEqual([true, 7]);
    await catalog.put(cron({ name: 'c' }), order(null));
    expect((await catalog.since(known))?.entries).toHaveLength(1);
  });

  auditTrailContract('the PostgreSQL audit trail', async () => {
    const options = { ...fresh(), keep: KEPT };
    return {
      trail: new PostgresAuditTrail(options),
      elsewhere: new PostgresAuditTrail(options),
      now: () => postgres.sandbox.now(),
    };
  });
});

const RECORD = { by: 'ana', role: 'shell', action: 'set', cron: 'a', runId: null, before: null, after: null };

describe('a deployment that moves its definitions from Redis to PostgreSQL', () => {
  const postgres = usePostgresLedger();

  /** A deployment whose definitions are in Redis: changed, removed and made at run time. */
  async function deployed() {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const catalog = new RedisCatalog({ redis, ...space });
    const sets = [named('a', 'b', 'c'), named('a', 'c')];
    for (const set of sets) await catalog.revisions.enrol(definitionSet({ app: 'shop' }, set));
    await catalog.declare(named('a', 'b', 'c'), by(1));
    await catalog.put(cron({ name: 'a', ...OTHER }), order(1));
    await catalog.put(cron({ name: 'made', payload: { text: 'a\ttab\nand a line' } }), order(null));
    await catalog.declare(named('a', 'c'), by(2));
    await catalog.drop(['b'], by(2, 'shop', { gone: [gone(1)] }));
    await catalog.outgrow('c', 4);
    const trail = new RedisAuditTrail({ redis, ...space });
    for (const reason of ['one', 'two']) await trail.append({ ...RECORD, reason, from: 'the test' });
    const key = (part: string) => redisKeys(space)('catalog', part);
    await redis.hset(key('crons'), { stray: 'no record', broken: '1\t2\tfiring\t\t{}\t{' });
    await redis.hset(key('declared'), { stray: 'nothing' });
    await redis.hset(key('alarms'), { a: '{"open":[]}' });
    const place = { pool: postgres.sandbox.pool, schema: postgres.sandbox.schema, ...space };
    return { redis, space, catalog, trail, place, open: () => openPostgresCatalog({ ...place, redis }) };
  }

  it('keeps every definition, tombstone, revision, audit record and alarm', async () => {
    const { catalog, trail, place, open } = await deployed();
    const { catalog: moved, adopted } = await open();
    expect(adopted).toBe(5);
    const [was, is] = [await catalog.read(), await moved.read()];
    expect(is.entries).toEqual(was.entries);
    expect(is.unreadable?.map(({ name }) => name)).toEqual(['broken']);
    expect(is.bornAt).toBe(was.bornAt);
    expect(is.version).toBeGreaterThan(was.version);
    expect(await moved.revisions.of('shop')).toEqual(await catalog.revisions.of('shop'));
    expect(await moved.revisions.declaredBy('shop', [1, 2, 3])).toEqual(
      await catalog.revisions.declaredBy('shop', [1, 2, 3]),
    );
    expect(await moved.revisions.enrol(definitionSet({ app: 'shop' }, named('a')))).toBe(3);
    const kept = new PostgresAuditTrail(place);
    expect(await kept.list({ limit: 10 })).toEqual(await trail.list({ limit: 10 }));
    const next = await kept.append({ ...RECORD, reason: 'three', from: 'the test' });
    expect((await kept.list({ limit: 1 }))[0]).toEqual(next);
    const { rows } = await place.pool.query(
      `select cron, record from "${place.schema}".alarm_record where space = '${place.prefix}:${place.tenant}'`,
    );
    expect(rows).toEqual([{ cron: 'a', record: '{"open":[]}' }]);
    expect(await listTenants({ ...place })).toContain(place.tenant);
  });

  it('moves them once, although all its pods start at the same time', async () => {
    const { open, catalog } = await deployed();
    const opened = await Promise.all([open(), open(), open()]);
    expect(opened.map(({ adopted }) => adopted).filter((count) => count !== null)).toEqual([5]);
    await opened[0].catalog.remove('made', order(1));
    // What an old pod still changes in Redis is no longer heard, and no later boot takes it over.
    await catalog.put(cron({ name: 'late' }), order(null));
    expect((await open()).adopted).toBeNull();
    expect(await opened[0].catalog.remove('broken', order(null))).toMatchObject({ verdict: 'accepted' });
    expect((await opened[1].catalog.read()).unreadable).toEqual([]);
    const { entries } = await opened[1].catalog.read();
    expect(entries.map(({ definition, state }) => `${definition.name} ${state}`)).toEqual([
      ...['a active', 'b removed', 'c active', 'made removed'],
    ]);
  });

  it('moves nothing when another pod has moved them while this one still read them', async () => {
    const { redis, place, open } = await deployed();
    const slow = new PostgresCatalog({ ...place, redis });
    const seen = { version: 1, bornAt: 0, crons: [], builds: [], revisions: [], sets: [], records: [], alarms: [] };
    const adopted = await slow.adopt(async () => {
      await open();
      return seen;
    });
    expect(adopted).toBeNull();
    expect((await slow.read()).entries).toHaveLength(4);
  });
});
