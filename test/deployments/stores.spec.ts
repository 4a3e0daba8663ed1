import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresCatalog, PostgresLedger } from '@fencepost/ledger/postgres';
import { tcpProxy } from '../support/proxies.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { privateRedis, testRedis } from '../support/redis.js';
import { CLEAN, EVEN_SECONDS, EVERY_SECOND, Row, text, THIRD_SECONDS } from './row.js';

/** Process after process is started, on a machine that may be busy. */
const LONG = { timeout: 240_000 };

describe('a deploy', () => {
  it(
    'of a revision whose pods are cut off from the store for a minute is in force again when they return',
    LONG,
    async () => {
      const proxy = await tcpProxy(Number(new URL(testRedis()).port));
      const row = await Row.open();
      try {
        const old = row.image({ crons: { tick: text(EVERY_SECOND), old: text(EVEN_SECONDS) } });
        const next = row.image({ crons: { tick: text(EVEN_SECONDS), fresh: text(THIRD_SECONDS) } });
        await row.start(old);
        await row.start(next, { env: { REDIS_URL: proxy.url } });
        await row.comesTo({ tick: EVEN_SECONDS, old: EVEN_SECONDS, fresh: THIRD_SECONDS });
        proxy.swallow();
        // Gone for as long as it takes for its crons to be another revision's, and the crons of its own to be removed.
        await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
        proxy.heal();
        await row.comesTo({ tick: EVEN_SECONDS, old: EVEN_SECONDS, fresh: THIRD_SECONDS });
        await row.runs('fresh');
        expect(await row.finish()).toEqual(CLEAN);
      } finally {
        await row.close();
        await proxy.close();
      }
    },
  );
});

describe('a deployment whose ledger is in PostgreSQL', () => {
  let postgres: TestPostgres;
  let pool: Pool;
  const schema = freshSchema();
  beforeAll(async () => {
    postgres = await postgresForTests();
    pool = new Pool({ connectionString: postgres.url });
  }, 600_000);
  afterAll(async () => {
    await pool?.query(`drop schema if exists "${schema}" cascade`);
    await pool?.end();
  });

  it('keeps its definitions when its Redis is wiped, and changes none', LONG, async () => {
    const redis = await privateRedis();
    const row = await Row.open({
      redis: redis.url,
      env: { DATABASE: postgres.url, SCHEMA: schema },
      openCatalog: (place) => new PostgresCatalog({ pool, schema, ...place }),
      openLedger: (place) => new PostgresLedger({ pool, transactions: pool, schema, ...place }),
    });
    try {
      const old = row.image({ crons: { tick: text(EVERY_SECOND), old: text(EVEN_SECONDS) } });
      const next = row.image({ crons: { tick: text(EVEN_SECONDS), fresh: text(THIRD_SECONDS) } });
      await row.start(old);
      await row.start(next);
      const all = { tick: EVEN_SECONDS, old: EVEN_SECONDS, fresh: THIRD_SECONDS };
      await row.comesTo(all);
      await row.wipeRedis();
      await row.runs('tick', 5);
      expect(await row.inForce()).toEqual(all);
      const generations = await Promise.all(['tick', 'old', 'fresh'].map((cron) => row.entry(cron)));
      expect(generations.map(({ generation }) => generation)).toEqual([2, 1, 1]);
      // The numbers of the revisions are as safe as the definitions.
      expect((await row.catalog.revisions.of('shop')).map(({ revision }) => revision)).toEqual([1, 2]);
      expect(await row.finish()).toEqual(CLEAN);
    } finally {
      await row.close();
      await redis.stop();
    }
  });
});
