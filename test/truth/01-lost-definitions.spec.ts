import { afterAll, beforeAll, describe, expect, it, afterEach } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, LEDGER, SingletonCron } from '@fencepost/jobs';
import { CATALOG } from '@fencepost/jobs/internal';
import { OperationsModule, AUDIT_TRAIL, CronCatalog, CronOperator } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { systemClock } from '@fencepost/lease';
import { Redis } from 'ioredis';
import { PostgresCatalog } from '@fencepost/ledger/postgres';
import { findLostDefinitions } from '@fencepost/operations/internal';
import { declared, FencepostDeployment } from '../support/fencepost.js';
import { usePostgresLedger } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres, freshSchema } from '../support/postgres.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const BY = { by: 'ana', reason: 'for the test' };

describe('definitions lost with Redis', () => {
  const spaces = redisSpaces();

  const postgres = usePostgresLedger();

  describe('a catalog in Redis that loses its definitions', () => {
    it('has each cron named that the ledger knows, until it is declared again', async () => {
      const space = { redis: spaces.redis(), ...spaces.fresh() };
      const at = await FencepostDeployment.of(space, [declared('coded'), declared('idle')]);
      await at.catalog.put(declared('made'), { expected: null, ...BY });
      for (const cron of ['coded', 'made']) await at.claimed(cron, Date.now() - 60_000);
      const find = async () =>
        findLostDefinitions({ ...space, catalog: at.catalog, ledger: at.ledger }, await at.catalog.read());
      expect(await find()).toEqual({ count: 0, names: [] });

      const keys = await space.redis.keys(redisKeys(space)('catalog', 'any').replace(/any$/, '*'));
      await space.redis.del(keys);
      expect(await find()).toEqual({ count: 2, names: ['coded', 'made'] });
      expect(JSON.stringify(await at.json('doctor'))).toContain('DEFINITIONS_LOST');

      await at.catalog.declare([declared('coded')], { revision: 7, app: 'app' });
      expect(await find()).toEqual({ count: 1, names: ['made'] });
    });

    it('does not name a cron that was removed while the catalog was whole', async () => {
      const space = { redis: spaces.redis(), ...spaces.fresh() };
      const at = await FencepostDeployment.of(space, [declared('coded')]);
      await at.claimed('coded', Date.now() - 60_000);
      const reading = await at.catalog.read();
      const later = { ...reading, entries: [], bornAt: Date.now() - 3_600_000 };
      expect(await findLostDefinitions({ ...space, catalog: at.catalog, ledger: at.ledger }, later)).toMatchObject({
        count: 0,
      });
    });
  });

  describe('a catalog in PostgreSQL that loses its definitions', () => {
    it('has each cron named that the ledger knows, but for those that were removed', async () => {
      const place = { pool: postgres.sandbox.pool, schema: postgres.sandbox.schema, ...spaces.fresh() };
      const redis = spaces.redis();
      const catalog = new PostgresCatalog({ ...place, redis, tombstoneMs: 0 });
      const ledger = postgres.sandbox.ledger(place);
      await catalog.declare([declared('kept'), declared('lost'), declared('removed')], { revision: 1, app: 'app' });
      for (const cron of ['kept', 'lost', 'removed']) await ledger.pause(cron, { until: null, ...BY });
      await catalog.remove('removed', { expected: 1, ...BY });
      const find = async () => findLostDefinitions({ catalog, ledger, ...place, redis }, await catalog.read());
      // The next change deletes the tombstone.
      await expect.poll(() => postgres.sandbox.now()).toBeGreaterThan((await catalog.read()).readAt);
      await catalog.put(declared('kept', '0 4 * * *'), { expected: 1, ...BY });
      expect((await catalog.read()).entries.map(({ definition }) => definition.name)).toEqual(['kept', 'lost']);
      expect(await find()).toEqual({ count: 0, names: [] });

      for (const table of ['catalog_cron', 'catalog_generation']) {
        await postgres.sandbox.pool.query(
          `delete from "${postgres.sandbox.schema}".${table} where space = $1 and ${table === 'catalog_cron' ? 'name' : 'cron'} = 'lost'`,
          [`${place.prefix}:${place.tenant}`],
        );
      }
      expect(await find()).toEqual({ count: 1, names: ['lost'] });
    });
  });
});

const EACH_SECOND = '* * * * * *';

const YEARLY = '0 0 0 1 1 *';

const PATIENCE_MS = 60_000;

@Injectable()
class Declared {
  @SingletonCron(EACH_SECOND, { name: 'changed', overlap: 'allow' })
  changed(): void {}

  @SingletonCron(EACH_SECOND, { name: 'paused', overlap: 'allow' })
  paused(): void {}
}

const apps: INestApplicationContext[] = [];

function storesOf(app: INestApplicationContext) {
  const [catalog, ledger, trail] = [
    app.get<Catalog>(CATALOG),
    app.get<Ledger>(LEDGER),
    app.get<AuditTrail>(AUDIT_TRAIL),
  ];
  const crons = new CronCatalog({ catalog, clock: systemClock });
  const lastInstantOf = async (cron: string) => (await ledger.runs(cron, 1))[0]?.scheduledAt ?? 0;
  /** Until the cron has succeeded at `count` instants after `since`. */
  const succeeds = (cron: string, since: number, count: number) =>
    until(
      `${cron} succeeded ${count} times`,
      async () => {
        const runs = await ledger.runs(cron, 100);
        return runs.filter(({ state, scheduledAt }) => state === 'succeeded' && scheduledAt > since).length >= count;
      },
      PATIENCE_MS,
    );
  return { catalog, ledger, trail, crons, lastInstantOf, succeeds, operator: app.get(CronOperator) };
}

describe('with the ledger in PostgreSQL, a Redis that is wiped', { timeout: 4 * PATIENCE_MS }, () => {
  const schema = freshSchema();

  let redis: PrivateRedis;

  let postgres: TestPostgres;

  beforeAll(async () => {
    [redis, postgres] = await Promise.all([privateRedis(), postgresForTests()]);
  });

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  afterAll(async () => {
    await redis.stop();
  });

  /** A pod of both roles. */
  async function start(prefix: string): Promise<INestApplicationContext> {
    const jobs = JobsModule.forRoot({
      ...{ redis: redis.url, prefix, roles: ['scheduler', 'worker'], ledger: 'postgres', app: 'shop' },
      ...{ leaseTtl: '1s', sweepEvery: '200ms', drainDeadline: '2s' },
      postgres: { url: postgres.url, schema, migrate: true },
    });
    const app = await Test.createTestingModule({
      imports: [jobs, OperationsModule.on(jobs)],
      providers: [Declared],
    }).compile();
    apps.push(app);
    return app.init();
  }

  async function wipe(): Promise<void> {
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
  }

  it('undoes no change, no removal, no pause, no cron made at run time and no audit record', async () => {
    const prefix = freshPrefix();
    const { succeeds, crons, operator, trail, catalog } = storesOf(await start(prefix));
    const made = { expression: EACH_SECOND, handler: 'changed', overlap: 'allow' } as const;
    await crons.set('removed', made, BY);
    await Promise.all(['changed', 'removed', 'paused'].map((cron) => succeeds(cron, 0, 1)));
    const { since } = await crons.set('changed', { expression: YEARLY }, BY);
    await crons.remove('removed', BY);
    await crons.set('made', made, BY);
    const { since: pausedSince } = await operator.pause('paused', BY);
    const about = { cron: 'changed', runId: null, before: null, after: null, from: 'the test' };
    const record = await trail.append({ ...BY, role: 'shell', action: 'set', ...about });
    await succeeds('made', since, 1);
    const before = await catalog.read();

    await wipe();
    // A pod that boots into the empty Redis declares its crons anew, and remembers nothing.
    const after = storesOf(await start(prefix));
    await after.succeeds('made', Date.now(), 3);

    expect((await after.catalog.read()).entries).toEqual(before.entries);
    expect(await after.lastInstantOf('changed')).toBeLessThanOrEqual(since);
    const removed = before.entries.find(({ definition }) => definition.name === 'removed');
    expect(removed?.state).toBe('removed');
    expect(await after.lastInstantOf('removed')).toBeLessThanOrEqual(removed?.since ?? 0);
    expect(await after.lastInstantOf('paused')).toBeLessThanOrEqual(pausedSince);
    expect((await after.ledger.readCron('paused')).paused).toMatchObject(BY);
    expect(await after.trail.list({ limit: 10, cron: 'changed' })).toEqual([record]);
  });
});
