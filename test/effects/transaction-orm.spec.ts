import { Kysely, PostgresDialect, type Generated, type PostgresQueryResult } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SqlConnection } from '@fencepost/lease/postgres';
import type { TransactionalRunContext } from '@fencepost/jobs';
import { commitProxy, type CommitFault } from '../support/commit-proxy.js';
import { postgresLedgerSandbox, SPACE, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { TransactionStage } from './transaction-stage.js';

interface Shop {
  readonly orders: { readonly id: Generated<number>; readonly run: string; readonly total: number };
}

let server: TestPostgres;
let sandbox: PostgresLedgerSandbox;
let stage: TransactionStage;
beforeAll(async () => {
  server = await postgresForTests();
});
beforeEach(async () => {
  sandbox = await postgresLedgerSandbox(server.url);
  // No key but its own: a row that is written twice is there twice.
  await sandbox.pool.query(
    `create table "${sandbox.schema}".orders (id int generated always as identity, run text not null, total int not null)`,
  );
  stage = new TransactionStage(sandbox.ledger(SPACE));
});
afterEach(() => sandbox.close());

/** Kysely on the one connection of a transaction, which stays the ledger's to end and to give back. */
function kyselyOn(tx: SqlConnection): Kysely<Shop> {
  const query = async (text: string, values: readonly unknown[]) =>
    (await tx.query({ text, values: [...values] })) as PostgresQueryResult<never>;
  const connection = { query: query as never, release: () => undefined };
  const pool = { connect: async () => connection, end: async () => undefined };
  return new Kysely<Shop>({ dialect: new PostgresDialect({ pool }) }).withSchema(sandbox.schema);
}

type Insert = (tx: SqlConnection, run: TransactionalRunContext) => Promise<{ id: number }>;

const withKysely: Insert = (tx, run) =>
  kyselyOn(tx).insertInto('orders').values({ run: run.id, total: 42 }).returning('id').executeTakeFirstOrThrow();

const withPg: Insert = async (tx, run) => {
  const text = `insert into "${sandbox.schema}".orders (run, total) values ($1, $2) returning id`;
  const { rows } = await tx.query({ text, values: [run.id, 42] });
  return rows[0] as { id: number };
};

const orders = () => sandbox.rows('select id, run, total from @orders order by id');
const recorded = () => sandbox.rows(`select run_id as run from @effect where name = 'transaction' and state = 'done'`);

/** The row and its record, or neither. */
async function expectTogether(runId: string, times: 0 | 1): Promise<void> {
  const expected = Array.from({ length: times }, () => ({ run: runId }));
  expect(await sandbox.rows('select run from @orders where total = 42')).toEqual(expected);
  expect(await recorded()).toEqual(expected);
}

describe.each([
  ['Kysely', withKysely],
  ['pg', withPg],
])('rows that are written with %s in run.transaction', (_name, insert) => {
  let runId: string;
  beforeEach(async () => {
    runId = await stage.waiting();
  });

  it('commit together with the record, whose result a later attempt gets back', async () => {
    const results: unknown[] = [];
    const run = await stage.ended(runId, async (context) => {
      results.push(await context.transaction((tx) => insert(tx, context)));
      if (results.length < 2) throw new Error('after the commit');
    });
    expect(run).toMatchObject({ state: 'succeeded', attempt: 2 });
    await expectTogether(runId, 1);
    const [order] = (await orders()) as [{ id: number }];
    expect(results).toEqual([{ id: order.id }, { id: order.id }]);
  });

  it.each<[CommitFault, number]>([
    ['instead', 2],
    ['later', 2],
    ['reply', 1],
  ])('are there once when the connection is cut at their commit (%s)', async (fault, attempts) => {
    const proxy = await commitProxy(server.url);
    const pool = sandbox.another({ connectionString: proxy.url });
    proxy.arm(fault);
    let calls = 0;
    const handle = (context: TransactionalRunContext) => {
      calls += 1;
      return context.transaction((tx) => insert(tx, context), { pool });
    };
    const run = await stage.ended(runId, handle);
    // A commit that was held up on its way comes too late.
    proxy.release();
    expect(proxy.faults).toBe(1);
    expect(run).toMatchObject({ state: 'succeeded', attempt: attempts });
    expect(calls).toBe(attempts);
    await expectTogether(runId, 1);
    await proxy.close();
  });
});

describe('an ORM’s own transaction within run.transaction', () => {
  it('is refused, with what to do instead', async () => {
    const runId = await stage.waiting();
    let refusal: unknown;
    await stage.deliver(runId, async (context) => {
      const met = context.transaction(async (tx) => {
        const own = kyselyOn(tx).transaction();
        await own.execute((db) => db.insertInto('orders').values({ run: context.id, total: 42 }).execute());
      });
      refusal = await met.catch((error: unknown) => error);
      throw refusal;
    });
    expect(refusal).toMatchObject({
      code: 'TRANSACTION_MISUSED',
      message: expect.stringContaining('leave COMMIT, ROLLBACK and BEGIN to the ledger'),
    });
    expect(await recorded()).toEqual([]);
  });
});
