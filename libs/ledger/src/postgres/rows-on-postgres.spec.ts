import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import type { ClaimRequest } from '../base/ledger.js';
import { usePostgresLedger } from '../../../../test/support/postgres-ledger-sandbox.js';

const CRON = 'nightly-report';
const DAY_MS = 86_400_000;

/** The claim of one instant after the other. */
function claimOf(instant: number, cursor: number | null): ClaimRequest {
  const once = {
    cron: CRON,
    fence: parseFence('1'),
    term: 'term',
    holder: 'pod',
    nonce: randomUUID(),
    generation: 1,
    skips: [],
  };
  const occurrence = { scheduledAt: instant, dueAt: instant, reason: 'schedule', missed: null } as const;
  return { ...once, cursor, occurrence, overlap: 'allow' };
}

describe('the table of runs', () => {
  const postgres = usePostgresLedger();

  it('names no column in an index that changes between the claim of a run and its end', async () => {
    const named = await postgres.sandbox.rows(
      `select distinct attname::text as name from pg_index
         join pg_depend on pg_depend.objid = indexrelid and refobjid = indrelid and refobjsubid > 0
         join pg_attribute on attrelid = indrelid and attnum = refobjsubid
       where indrelid = '@run'::regclass order by 1`,
    );
    // The last five change when a run ends, or waits for an operator.
    expect(named.map((row) => (row as { name: string }).name).toSorted()).toEqual(
      ['space', 'id', 'cron', 'scheduled_at', 'generation']
        .concat('is_open', 'is_watched', 'is_troubled', 'finished_at', 'doubted_at')
        .toSorted(),
    );
  });

  it('keeps the versions of a row in its page until the run ends, so that no step before that writes to an index', async () => {
    const { sandbox } = postgres;
    const ledger = sandbox.ledger();
    const counted = async () => {
      // Of whichever session has done the work.
      await sandbox.rows('select pg_stat_force_next_flush()');
      const [row] = await sandbox.rows(
        `select n_tup_upd::int as updates, n_tup_hot_upd::int as kept from pg_stat_user_tables where relid = '@run'::regclass`,
      );
      return row as { updates: number; kept: number };
    };
    const first = await sandbox.now();
    const runs = [first - 2 * DAY_MS, first - DAY_MS].map((instant) => `${CRON}@${instant}`);
    await ledger.claim(claimOf(first - 2 * DAY_MS, null));
    await ledger.claim(claimOf(first - DAY_MS, first - 2 * DAY_MS));
    await ledger.confirm(runs);
    for (const runId of runs) {
      const attempt = { runId, nonce: randomUUID(), worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 };
      const begun = await ledger.begin(attempt);
      if (begun.verdict !== 'begun') throw new Error(begun.verdict);
      await ledger.heartbeat({ runId, fence: begun.fence, nonce: attempt.nonce }, 60_000);
    }
    await expect.poll(counted, { timeout: 10_000 }).toEqual({ updates: 6, kept: 6 });
  });

  // As the functions of builds before version 13 ask for them.
  it.each(['is_open', 'is_watched'])('finds runs by its one index of unfinished runs where %s', async (condition) => {
    const { sandbox } = postgres;
    const asked = `select from @run where space = 'test:default' and cron = '${CRON}' and ${condition}`;
    const connection = await sandbox.pool.connect();
    try {
      await connection.query('set enable_seqscan = off');
      const { rows } = await connection.query(`explain (format json) ${asked.replaceAll('@', `"${sandbox.schema}".`)}`);
      expect(JSON.stringify(rows)).toContain('"run_unfinished"');
    } finally {
      connection.release(true);
    }
  });
});
