import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { systemClock } from '@fencepost/lease';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { audit } from '@fencepost/operations/audit';
import type { AuditReport } from '@fencepost/operations/audit';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { PostgresCatalog, PostgresLedger, migrateLedger } from '@fencepost/ledger/postgres';
import type { Run } from '@fencepost/ledger/run';
import { RedisMembership } from '@fencepost/jobs/internal';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { usePods, type Pods } from '../support/pods.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

/** Shorter than any deployment would have them, so that a test can wait them out. */
const SHORT_TIMES = {
  FENCEPOST_LEASE_TTL: '1s',
  FENCEPOST_RUN_LEASE: '1500ms',
  FENCEPOST_SWEEP_EVERY: '200ms',
  FENCEPOST_APP: 'test-worker',
};

export const SPACE = { prefix: 'fencepost', tenant: 'default' };
export const CRON = 'book';
const ALL = 10_000;

interface Stores {
  readonly redis: RedisClient;
  readonly pool: Pool;
  readonly ledger: PostgresLedger;
  readonly catalog: PostgresCatalog;
  readonly schema: string;
}

/** Pods whose ledger is in PostgreSQL, a Redis that is theirs alone, and the cron that writes rows into that database. */
export class PostgresDeployment {
  #stores: Stores | undefined;
  #born: CatalogEntry | undefined;

  constructor(
    readonly pods: Pods,
    readonly server: { redis?: PrivateRedis; postgres?: TestPostgres },
  ) {}

  get stores(): Stores {
    if (!this.#stores) throw new Error('Expected to be used inside of a test, after its beforeEach.');
    return this.#stores;
  }

  get redis(): PrivateRedis {
    if (!this.server.redis) throw new Error('Expected to be used after the beforeAll of its file.');
    return this.server.redis;
  }

  async open(): Promise<void> {
    const url = this.server.postgres?.url ?? '';
    const schema = freshSchema();
    const pool = new Pool({ connectionString: url, application_name: 'the test' });
    await migrateLedger(pool, { schema });
    await pool.query(`create table "${schema}".booked (run text not null, attempt int not null)`);
    await pool.query(`create table "${schema}".mailed (run text not null, key text primary key)`);
    const redis = await connectRedis({ url: this.redis.url, commandTimeoutMs: 2_000, name: 'test' });
    await redis.flushall();
    const ledger = new PostgresLedger({ pool, schema, ...SPACE });
    this.#stores = { redis, pool, schema, ledger, catalog: new PostgresCatalog({ pool, schema, redis, ...SPACE }) };
    this.#born = undefined;
    const database = { FENCEPOST_LEDGER: 'postgres', DATABASE_URL: url, FENCEPOST_SCHEMA: schema };
    Object.assign(this.pods.env, SHORT_TIMES, database, { REDIS_URL: this.redis.url, FENCEPOST_MIGRATE: 'true' });
  }

  async close(): Promise<void> {
    const stores = this.#stores;
    this.#stores = undefined;
    if (!stores) return;
    await closeRedis(stores.redis);
    await stores.pool.query(`drop schema "${stores.schema}" cascade`);
    await stores.pool.end();
  }

  worker(name: string, options: Parameters<Pods['worker']>[1] = {}): ReturnType<Pods['worker']> {
    return this.pods.worker(name, { ...options, env: { CRONS: CRON, ...options.env } });
  }

  runs(): Promise<Run[]> {
    return this.stores.ledger.runs(CRON, ALL);
  }

  /** Until so many runs more than there are now have succeeded, of instants that are still to come. */
  async goesOn(count: number): Promise<void> {
    const since = Date.now();
    await until(`${count} more runs succeeded`, async () => {
      const done = (await this.runs()).filter(({ state, scheduledAt }) => state === 'succeeded' && scheduledAt > since);
      // What the catalog says first is what is held against the ledger.
      this.#born ??= (await this.stores.catalog.read()).entries.find(({ definition }) => definition.name === CRON);
      return done.length >= count;
    });
  }

  /** Ends the sessions of all pods, as an administrator or a failover would; says how many. */
  async terminateSessions(): Promise<number> {
    const ended = await this.stores.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'fencepost%'`,
    );
    return ended.rowCount ?? 0;
  }

  /** Expects that nothing of any instant is missing or there twice, up to where the audit can say. */
  async expectAccounted(): Promise<AuditReport> {
    const { ledger, catalog, redis } = this.stores;
    const born = this.#born;
    if (!born) throw new Error('Expected the deployment to have been seen at work.');
    const { schema, pool } = this.stores;
    // Of one moment: the next instant may fall due while the rest is read.
    let runs: Run[] = [];
    await until('no run is open', async () => {
      runs = await this.runs();
      return runs.every(({ finishedAt }) => finishedAt !== null);
    });
    const older = {
      read: async () => ({ ...(await catalog.read()), entries: [born] }),
    };
    const membership = new RedisMembership({ redis, ...SPACE });
    const report = await audit({ catalog: older, ledger, membership, clock: systemClock });
    expect(report, JSON.stringify(report.findings)).toMatchObject({ missed: 0, doubled: 0, unexplained: 0 });
    expect(runs.filter(({ state, skipped }) => state !== 'succeeded' && skipped === null)).toEqual([]);
    const known = new Set(runs.map(({ id }) => id));
    const succeeded = runs.flatMap(({ id, state }) => (state === 'succeeded' ? [id] : [])).toSorted();
    for (const table of ['booked', 'mailed']) {
      const { rows } = await pool.query<{ run: string }>(`select run from "${schema}".${table}`);
      const written = rows.map(({ run }) => run).filter((run) => known.has(run));
      expect(written.toSorted(), table).toEqual(succeeded);
    }
    return report;
  }
}

/** A fresh deployment for each test of the file. */
export function usePostgresDeployment(): PostgresDeployment {
  const server: PostgresDeployment['server'] = {};
  // Before the pods' own, and so after it: what still runs would hold on to the schema.
  afterEach(() => deployment.close());
  const deployment = new PostgresDeployment(usePods(), server);
  beforeAll(async () => {
    [server.redis, server.postgres] = await Promise.all([privateRedis(), postgresForTests()]);
  });
  afterAll(async () => {
    await server.redis?.stop();
  });
  beforeEach(() => deployment.open());
  return deployment;
}
