import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '@fencepost/lease/testing';
import type { RunContext } from '@fencepost/jobs';
import { postgresLedgerSandbox, SPACE, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { until } from '../support/until.js';
import { TransactionStage } from './transaction-stage.js';

const LONGER_THAN_PATIENCE_MS = 11_000;
/** Also on a busy machine, where the pool has to open its connections first. */
const LONGER_THAN_CONNECTING_MS = 1_000;

let server: TestPostgres;
let sandbox: PostgresLedgerSandbox;
/** By the user's code; a test that fails gives them back, too. */
const held: PoolClient[] = [];
beforeAll(async () => {
  server = await postgresForTests();
});
afterAll(() => server.stop());
beforeEach(async () => {
  sandbox = await postgresLedgerSandbox(server.url);
  await sandbox.pool.query(`create table "${sandbox.schema}".booked (run text not null)`);
});
const giveBack = () => {
  for (const connection of held.splice(0)) connection.release();
};
afterEach(() => {
  giveBack();
  return sandbox.close();
});

const book = (run: RunContext) =>
  run.transaction(async (tx) => {
    await tx.query({ text: `insert into "${sandbox.schema}".booked values ($1)`, values: [run.id] });
  });

/** A worker whose user's code and whose ledger have one pool, of `max` connections. */
function sharing(max: number, settings: { readonly connectionTimeoutMillis?: number } = {}) {
  const clock = new ManualClock();
  const pool = sandbox.another({ max, ...settings });
  const takeAll = async () => {
    while (held.length < max) held.push(await pool.connect());
  };
  return { stage: new TransactionStage(sandbox.ledger({ ...SPACE, pool, clock })), clock, pool, takeAll };
}

describe.each([1, 2])('a handler that holds every one of %i connections', (max) => {
  it.each([
    ['the ledger’s own patience', {}],
    ['the pool’s connectionTimeoutMillis', { connectionTimeoutMillis: LONGER_THAN_CONNECTING_MS }],
  ])('is told what is wrong and what to do, by %s, and the next attempt succeeds', async (_whose, settings) => {
    const { stage, clock, pool, takeAll } = sharing(max, settings);
    const runId = await stage.waiting();
    let refusal: unknown;
    const disposition = await stage.deliver(runId, async (run) => {
      await takeAll();
      const booking = book(run).catch((error: unknown) => (refusal = error));
      if (!('connectionTimeoutMillis' in settings)) {
        await until('the worker waits', async () => pool.waitingCount === 1);
        await clock.advance(LONGER_THAN_PATIENCE_MS);
      }
      await booking;
      giveBack();
      throw refusal;
    });
    expect(refusal).toMatchObject({
      code: 'POOL_EXHAUSTED',
      message: expect.stringMatching(/every connection of the pool is in use: raise its "max"/),
    });
    expect(disposition).toMatchObject({ kind: 'later' });
    expect(await sandbox.rows('select * from @booked')).toEqual([]);
    expect(await stage.ended(runId, book)).toMatchObject({ state: 'succeeded', attempt: 2 });
    expect(await sandbox.rows('select * from @booked')).toEqual([{ run: runId }]);
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([max, max, 0]);
  });
});
