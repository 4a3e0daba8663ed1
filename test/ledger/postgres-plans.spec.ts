import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptRef } from '../../libs/jobs/src/ledger/ledger.js';
import type { PostgresAttempts } from '../../libs/jobs/src/ledger/postgres/postgres-attempts.js';
import { attemptRoom, type AttemptRoom } from '../support/attempt-room.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

let server: TestPostgres;
let room: AttemptRoom;
beforeAll(async () => {
  server = await postgresForTests();
  room = await attemptRoom(server.url);
});
afterAll(async () => {
  await room.close();
  await server.stop();
});

/** As many runs as crons, of which the last have ids that are known. */
async function grow(number: number): Promise<string[]> {
  await room.value(
    `insert into :schema.cron (space, name) select 'test:default', 'grown-' || n from generate_series(1, $1::int) n`,
    number,
  );
  await room.value(
    `insert into :schema.run (space, id, cron, state, scheduled_at, due_at, reason, generation, claim_fence, claim_nonce,
       claimed_at, delivery, overlap, open_until, watch_at)
     select 'test:default', 'grown-' || n || '@1', 'grown-' || n, 'enqueued', 1, 1, 'recovery', 1, 0, '', 1, 1, 'allow',
       9223372036854775807, 1 from generate_series(1, $1::int) n`,
    number,
  );
  return Array.from({ length: 50 }, (_, n) => `grown-${number - n}@1`);
}

async function beginAll(ledger: PostgresAttempts, runs: readonly string[]): Promise<AttemptRef[]> {
  return Promise.all(
    runs.map(async (runId) => {
      const nonce = randomUUID();
      const begun = await ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 });
      if (begun.verdict !== 'begun') throw new Error(begun.verdict);
      return { runId, fence: begun.fence, nonce };
    }),
  );
}

interface RowsRead {
  readonly run: number;
  readonly cron: number;
}

/** How many rows the only session of a pool reads meanwhile; those that are found by their place don't count. */
async function rowsRead(pool: Pool, work: () => Promise<unknown>): Promise<RowsRead> {
  const read = async () => {
    const { rows } = await pool.query<{ relname: keyof RowsRead; read: number }>(
      `select relname, (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where schemaname = $1`,
      [room.schema],
    );
    return (table: keyof RowsRead) => rows.find(({ relname }) => relname === table)?.read ?? Number.NaN;
  };
  // Within a transaction nothing of the counters is handed on to where they can't be seen.
  await pool.query('begin');
  const before = await read();
  await work();
  const after = await read();
  await pool.query('commit');
  return { run: after('run') - before('run'), cron: after('cron') - before('cron') };
}

describe('a session that began while the ledger was empty, and whose statistics still say so', () => {
  it('looks up each run and each cron of a batch by its key', async () => {
    const pool = room.another({ max: 1 });
    const ledger = room.attempts({ pool });
    for (const table of ['run', 'cron']) {
      await pool.query(`alter table "${room.schema}".${table} set (autovacuum_enabled = false)`);
      await pool.query(`vacuum analyze "${room.schema}".${table}`);
    }
    for (const ref of await beginAll(ledger, [await room.enqueued()])) await ledger.finish(ref, { kind: 'succeeded' });
    const runs = await grow(2_000);
    let refs: readonly AttemptRef[] = [];
    const beginning = await rowsRead(pool, async () => (refs = await beginAll(ledger, runs)));
    // Each cron a second time: once to lock it, and once to write its fence.
    expect(beginning).toEqual({ run: runs.length, cron: 2 * runs.length });
    const ending = await rowsRead(pool, () =>
      Promise.all(refs.map((ref) => ledger.finish(ref, { kind: 'succeeded' }))),
    );
    expect(ending).toEqual({ run: runs.length, cron: runs.length });
  });
});
