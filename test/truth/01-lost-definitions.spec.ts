import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { PostgresCatalog } from '../../libs/ledger/src/postgres/postgres-catalog.js';
import { findLostDefinitions } from '../../libs/operations/src/operating/lost-definitions.js';
import { declared, FencepostDeployment } from '../support/fencepost-deployment.js';
import { postgresLedgerSandbox, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { redisSpaces } from '../jobs/redis-space.js';

const spaces = redisSpaces();
const BY = { by: 'ana', reason: 'for the test' };

let postgres: TestPostgres;
let sandbox: PostgresLedgerSandbox;
beforeAll(async () => {
  postgres = await postgresForTests();
  sandbox = await postgresLedgerSandbox(postgres.url);
});
afterAll(async () => {
  await sandbox?.close();
  await postgres?.stop();
});

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

    await at.catalog.declare([declared('coded')], { seq: 7, source: 'app' });
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
    const place = { pool: sandbox.pool, schema: sandbox.schema, ...spaces.fresh() };
    const redis = spaces.redis();
    const catalog = new PostgresCatalog({ ...place, redis, tombstoneMs: 0 });
    const ledger = sandbox.ledger(place);
    await catalog.declare([declared('kept'), declared('lost'), declared('removed')], { seq: 1, source: 'app' });
    for (const cron of ['kept', 'lost', 'removed']) await ledger.pause(cron, { until: null, ...BY });
    await catalog.remove('removed', { expected: 1, ...BY });
    const find = async () => findLostDefinitions({ catalog, ledger, ...place, redis }, await catalog.read());
    // The next change deletes the tombstone.
    await expect.poll(() => sandbox.now()).toBeGreaterThan((await catalog.read()).readAt);
    await catalog.put(declared('kept', '0 4 * * *'), { expected: 1, ...BY });
    expect((await catalog.read()).entries.map(({ definition }) => definition.name)).toEqual(['kept', 'lost']);
    expect(await find()).toEqual({ count: 0, names: [] });

    for (const table of ['catalog_cron', 'catalog_generation']) {
      await sandbox.pool.query(
        `delete from "${sandbox.schema}".${table} where space = $1 and ${table === 'catalog_cron' ? 'name' : 'cron'} = 'lost'`,
        [`${place.prefix}:${place.tenant}`],
      );
    }
    expect(await find()).toEqual({ count: 1, names: ['lost'] });
  });
});
