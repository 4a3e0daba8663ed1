import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import type { LedgerTiming } from '@fencepost/ledger';
import { PostgresLedger, migrateLedger } from '@fencepost/ledger/postgres';
import { type LedgerHarness } from '@fencepost/testing/ledger-contract';
import { postgresSandbox, type PostgresSandbox } from './postgres-sandbox.js';
import { postgresForTests, type TestPostgres } from './postgres.js';
import { freshPrefix } from './redis.js';

/** A migrated schema of a test's own, in which every ledger has a prefix of its own. */
export interface PostgresLedgerSandbox extends PostgresSandbox {
  readonly ledger: (over?: Partial<ConstructorParameters<typeof PostgresLedger>[0]>) => PostgresLedger;
  /** What a query finds; `@run` is the table of that name in the sandbox's schema. */
  rows(text: string): Promise<unknown[]>;
  /** A connection with an open transaction; one that is still there when the sandbox is closed is closed with it. */
  open(): Promise<PoolClient>;
  /** The server's clock, epoch milliseconds. */
  now(): Promise<number>;
  harness(timing?: Partial<LedgerTiming>): Promise<LedgerHarness>;
}

/** As the functions of the ledger read it. */
const NOW_MS = 'floor(extract(epoch from clock_timestamp()) * 1000)';

export const SPACE = { prefix: 'test', tenant: 'default' };

/** A server and a sandbox for the suite that calls this; both are there from its `beforeAll` on, and closed with it. */
export function usePostgresLedger(): { readonly sandbox: PostgresLedgerSandbox } {
  const used = {} as { sandbox: PostgresLedgerSandbox };
  let server: TestPostgres | undefined;
  beforeAll(async () => {
    server = await postgresForTests();
    used.sandbox = await postgresLedgerSandbox(server.url);
  });
  afterAll(() => used.sandbox?.close());
  return used;
}

export async function postgresLedgerSandbox(url: string): Promise<PostgresLedgerSandbox> {
  const sandbox = postgresSandbox(url);
  const { schema, pool } = sandbox;
  const opened = new Set<PoolClient>();
  const open = async () => {
    const connection = await pool.connect();
    opened.add(connection);
    await connection.query('begin');
    return connection;
  };
  const ended = (connection: PoolClient, destroy = false) => {
    if (opened.delete(connection)) connection.release(destroy);
  };
  await migrateLedger(pool, { schema });
  const ledger: PostgresLedgerSandbox['ledger'] = (over = {}) =>
    new PostgresLedger({ pool, schema, prefix: freshPrefix(), tenant: 'default', ...over });
  const now = async () => Number((await pool.query(`select ${NOW_MS} as now`)).rows[0].now);
  const harness: PostgresLedgerSandbox['harness'] = async (timing = {}) => {
    const prefix = freshPrefix();
    return {
      ledger: ledger({ prefix, timing }),
      cron: 'nightly-report',
      now,
      advance: async (ms) => {
        const end = (await now()) + ms;
        await expect.poll(now, { interval: 1, timeout: 10_000 }).toBeGreaterThanOrEqual(end);
      },
      clockGoesBack: (runId, ms) => leaveFromTheFuture(sandbox, `${prefix}:default`, { runId, ms }),
    };
  };
  return {
    ...sandbox,
    ledger,
    harness,
    rows: async (text) => (await pool.query(text.replaceAll('@', `"${schema}".`))).rows,
    open,
    now,
    transaction: async (begin) => {
      const connection = await open();
      await connection.query(begin);
      return { commit: () => connection.query('commit').then(() => ended(connection)) };
    },
    close: async () => {
      // One that a failed test left open holds locks that the end of the sandbox would wait for.
      for (const connection of opened) ended(connection, true);
      await sandbox.close();
    },
  };
}

/** What a clock that goes back leaves behind: a lease and fences from the future. */
async function leaveFromTheFuture(
  { pool, schema }: PostgresSandbox,
  space: string,
  { runId, ms }: { readonly runId: string; readonly ms: number },
): Promise<void> {
  const { rows } = await pool.query(
    `update "${schema}".run set fence = fence + $3, lease_until = lease_until + $4, open_until = lease_until + $4,
       watch_at = lease_until + $4
     where space = $1 and id = $2 returning cron, fence`,
    [space, runId, ms * 1_000, ms],
  );
  const [{ cron, fence }] = rows as [{ cron: string; fence: string }];
  await pool.query(`update "${schema}".cron set run_fence = $3 where space = $1 and name = $2`, [space, cron, fence]);
}
