import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, afterAll, beforeAll } from 'vitest';
import type { Pool } from 'pg';
import type { PostgresLedger } from '@fencepost/ledger/postgres';
import { CRON, SchedulerStage } from '../support/scheduler-stage.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { postgresLedgerSandbox, SPACE, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';

const BACKLOG = 1_050;

const stops: (() => Promise<void>)[] = [];

describe('a backlog of lost deliveries', () => {
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it('comes back within one sweep, in slices, while another cron fires on time', async () => {
    const stage = new SchedulerStage({ timing: { recoverMs: 1, sweepMs: 1 } });
    const { engine, dispatcher, events } = stage.pod();
    const held = stage.heldCron();
    for (let n = 0; n < BACKLOG; n += 1) {
      await stage.clock.advance(1_000);
      await dispatcher.dispatch([held]);
    }
    stage.memoryQueue.wipe();
    const other = {
      ...stage.heldCron(1, stage.scheduled({ name: 'other' }, { since: stage.clock.now() })),
      known: false,
    };
    engine.hold([{ ...held, known: true, over: false }, other]);
    engine.start();
    stops.push(() => engine.stop());
    await stage.clock.advance(5_000);
    await stage.clock.advance(2_000);
    const again = events.of('run.redelivered').filter(({ cron }) => cron === CRON);
    expect(new Set(again.map(({ runId }) => runId)).size).toBeGreaterThanOrEqual(BACKLOG);
    const late = events.of('occurrence.claimed').filter(({ cron }) => cron === 'other');
    expect(late.length).toBeGreaterThanOrEqual(6);
    expect(Math.max(...late.map(({ lateByMs }) => lateByMs))).toBe(0);
  });
});

describe('a trigger of a cron on PostgreSQL', () => {
  const NIGHTLY = 'nightly-report';

  const KEPT = 1_000;

  /** Each hundredth action trims the list: one look-up of the thousandth newest, and the hundred that go. */
  const TRIGGERS = 100;

  let server: TestPostgres;

  let sandbox: PostgresLedgerSandbox;

  /** Of one session, whose plans were made while the table was empty. */
  let pool: Pool;

  let ledger: PostgresLedger;

  beforeAll(async () => {
    server = await postgresForTests();
    sandbox = await postgresLedgerSandbox(server.url);
    pool = sandbox.another({ max: 1 });
    ledger = sandbox.ledger({ ...SPACE, pool });
  });

  afterAll(async () => {
    await sandbox?.close();
    await server?.stop();
  });

  async function trigger(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      const { verdict } = await ledger.trigger({
        ...{ runId: `${NIGHTLY}@manual-${randomUUID()}`, nonce: randomUUID(), scheduledAt: null, reason: 'manual' },
        ...{ generation: 1, by: 'ada', why: null, payload: null, handler: null, missed: null, overlap: 'allow' },
      });
      if (verdict !== 'claimed') throw new Error(verdict);
    }
  }

  /** Rows of the list of actions that the session has read so far. */
  async function rowsRead(): Promise<number> {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await sandbox.pool.query<{ read: number }>(
      `select (idx_tup_fetch + seq_tup_read)::int as read from pg_stat_user_tables
     where schemaname = $1 and relname = 'action'`,
      [sandbox.schema],
    );
    return rows[0]?.read ?? Number.NaN;
  }

  async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
    const before = await rowsRead();
    await work();
    return (await rowsRead()) - before;
  }

  it.each([
    { statistics: 'never taken', command: 'alter table @action set (autovacuum_enabled = false)' },
    { statistics: 'up to date', command: 'analyze @action' },
  ])(
    'reads a dozen actions on average after 1,500 of them, and the last thousand stay, with statistics $statistics',
    async ({ command }) => {
      await sandbox.rows(command);
      await trigger(1_500);
      await sandbox.rows(command);
      const read = await rowsReadBy(() => trigger(TRIGGERS));
      expect(read).toBeLessThanOrEqual(KEPT + 4 * TRIGGERS);
      const [kept] = (await sandbox.rows('select count(*)::int as count from @action')) as [{ count: number }];
      expect(kept.count).toBeGreaterThanOrEqual(KEPT);
      expect(kept.count).toBeLessThanOrEqual(KEPT + TRIGGERS);
      expect(await ledger.actions(NIGHTLY, 2 * KEPT)).toHaveLength(KEPT);
    },
    60_000,
  );
});
