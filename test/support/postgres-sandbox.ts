import { Pool } from 'pg';
import type { PoolConfig } from 'pg';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createLeaseTable, PostgresLeaseStore } from '@fencepost/lease/postgres';
import { freshSchema, postgresForTests } from './postgres.js';

/** A test's own schema, and a pool whose sessions bear its name. */
export interface PostgresSandbox {
  readonly schema: string;
  readonly pool: Pool;
  /** A store on the sandbox's table of leases, with a pool of its own where `settings` ask for one. */
  readonly store: (settings?: PoolConfig) => PostgresLeaseStore;
  /** Another pool of the same name; closed with the sandbox. */
  another(settings?: PoolConfig): Pool;
  /** Runs `begin` in a transaction that stays open until `commit`. */
  transaction(begin: string): Promise<{ commit(): Promise<void> }>;
  /** Waits until that many sessions of this sandbox wait for a lock. */
  untilBlocked(sessions: number): Promise<void>;
  /** Ends the sessions of this sandbox whose statement matches, as an administrator or a failover would; says how many. */
  terminate(statement: string): Promise<number>;
  readonly close: () => Promise<void>;
}

/** A server for the suite that calls this, and for each of its tests an empty sandbox that `prepare` has filled. */
export function usePostgresSandbox(prepare?: (sandbox: PostgresSandbox) => Promise<unknown>): {
  readonly sandbox: PostgresSandbox;
} {
  const used = {} as { sandbox: PostgresSandbox };
  beforeAll(async () => void (await postgresForTests()));
  beforeEach(async () => {
    used.sandbox = postgresSandbox((await postgresForTests()).url);
    await prepare?.(used.sandbox);
  });
  afterEach(() => used.sandbox.close());
  return used;
}

/** The same, with a table of leases. */
export function useLeaseSandbox(): { readonly sandbox: PostgresSandbox } {
  return usePostgresSandbox(({ pool, schema }) => createLeaseTable(pool, { schema }));
}

/** A sandbox with a table of leases. */
export async function leaseSandbox(url: string): Promise<PostgresSandbox> {
  const sandbox = postgresSandbox(url);
  await createLeaseTable(sandbox.pool, { schema: sandbox.schema });
  return sandbox;
}

/** An empty sandbox, without even the schema. */
export function postgresSandbox(url: string): PostgresSandbox {
  const schema = freshSchema();
  const pools: Pool[] = [];
  const another = (settings: PoolConfig = {}) => {
    const opened = new Pool({ connectionString: url, application_name: schema, max: 20, ...settings });
    // A session that was ended while it was idle is no failure of the test that ended it.
    opened.on('error', () => {});
    pools.push(opened);
    return opened;
  };
  const pool = another();
  const sessions = `FROM pg_stat_activity WHERE application_name = '${schema}' AND pid <> pg_backend_pid()`;
  const blocked = async () => Number((await pool.query(`SELECT count(*) AS n ${sessions} AND ${WAITS}`)).rows[0].n);
  return {
    schema,
    pool,
    another,
    store: (settings) => new PostgresLeaseStore({ client: settings ? another(settings) : pool, schema }),
    transaction: (begin) => openTransaction(pool, begin),
    untilBlocked: async (number) => {
      await expect.poll(blocked, { interval: 5, timeout: 10_000 }).toBe(number);
    },
    terminate: async (statement) => {
      const ended = await pool.query(`SELECT pg_terminate_backend(pid) ${sessions} AND query LIKE $1`, [statement]);
      return ended.rowCount ?? 0;
    },
    close: async () => {
      await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await Promise.all(pools.map((opened) => opened.end()));
    },
  };
}

const WAITS = `wait_event_type = 'Lock'`;

async function openTransaction(pool: Pool, begin: string): Promise<{ commit(): Promise<void> }> {
  const connection = await pool.connect();
  await connection.query('BEGIN');
  await connection.query(begin);
  return {
    commit: async () => {
      await connection.query('COMMIT');
      connection.release();
    },
  };
}
