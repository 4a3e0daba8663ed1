import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StaleFenceError, parseFence, type LeaseEvent } from '@fencepost/lease';
import { identifier, sql } from '@fencepost/lease/postgres';
import { fencedSql, runFenced } from '@fencepost/lease/sinks';
import { rejectionOf } from '../support/rejection-of.js';
import { postgresSandbox } from '../support/postgres-sandbox.js';
import type { PostgresSandbox } from '../support/postgres-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';

const STALE = { resource: 'order:1', fence: parseFence('8000000000000001') };
const NEWER = { resource: 'order:1', fence: parseFence('8000000000000002') };

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres?.stop());

describe('a fenced statement', () => {
  let sandbox: PostgresSandbox;
  beforeEach(async () => {
    sandbox = postgresSandbox(postgres.url);
    await sandbox.pool.query(`CREATE SCHEMA "${sandbox.schema}"`);
    await sandbox.pool.query(
      `CREATE TABLE "${sandbox.schema}".orders (id text PRIMARY KEY, state text NOT NULL, fence bigint, "Limit" bigint)`,
    );
    await sandbox.pool.query(`INSERT INTO "${sandbox.schema}".orders VALUES ('o1', 'new', NULL, NULL)`);
  });
  afterEach(() => sandbox.close());

  const orders = () => identifier(sandbox.schema, 'orders');
  const rows = async () => (await sandbox.pool.query(sql`SELECT id, state, fence FROM ${orders()} ORDER BY id`)).rows;

  function update(lease: typeof STALE, state: string) {
    const f = fencedSql(lease, { downstream: 'orders' });
    const write = sql`UPDATE ${orders()} SET state = ${state}, ${f.set} WHERE id = ${'o1'} AND ${f.condition}`;
    return sandbox.pool.query(write).then((result) => f.check(result));
  }

  function upsert(lease: typeof STALE, id: string, state: string) {
    const f = fencedSql(lease, { downstream: 'orders', table: 'kept' });
    const write = sql`
      INSERT INTO ${orders()} AS kept (id, state, fence) VALUES (${id}, ${state}, ${f.value})
      ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, ${f.setExcluded} WHERE ${f.conflictCondition}`;
    return sandbox.pool.query(write).then((result) => f.check(result));
  }

  it('writes a row that nobody has fenced yet, and again in the same term, and in a newer one', async () => {
    for (const [lease, state] of [
      [STALE, 'a'],
      [STALE, 'b'],
      [NEWER, 'c'],
    ] as const) {
      expect(await update(lease, state)).toMatchObject({ rowCount: 1 });
      expect(await rows()).toEqual([{ id: 'o1', state, fence: `${lease.fence}` }]);
    }
  });

  it("changes nothing for a stale owner's UPDATE, and throws", async () => {
    await update(NEWER, 'paid');
    await expect(update(STALE, 'late')).rejects.toThrow(StaleFenceError);
    expect(await rows()).toEqual([{ id: 'o1', state: 'paid', fence: `${NEWER.fence}` }]);
  });

  it('inserts a row with its fence, and overwrites it in the same and in a newer term', async () => {
    await upsert(STALE, 'o2', 'a');
    await upsert(STALE, 'o2', 'b');
    await upsert(NEWER, 'o2', 'c');
    await upsert(NEWER, 'o1', 'unfenced before');
    expect(await rows()).toEqual([
      { id: 'o1', state: 'unfenced before', fence: `${NEWER.fence}` },
      { id: 'o2', state: 'c', fence: `${NEWER.fence}` },
    ]);
  });

  it("changes nothing for a stale owner's INSERT … ON CONFLICT, and throws", async () => {
    await upsert(NEWER, 'o1', 'paid');
    await expect(upsert(STALE, 'o1', 'late')).rejects.toThrow(StaleFenceError);
    expect(await rows()).toEqual([{ id: 'o1', state: 'paid', fence: `${NEWER.fence}` }]);
  });

  it('decides on the row as the newer owner left it, also when both write at once', async () => {
    const newer = await sandbox.transaction(
      `UPDATE "${sandbox.schema}".orders SET state = 'paid', fence = ${NEWER.fence}`,
    );
    const late = rejectionOf(update(STALE, 'late'));
    await sandbox.untilBlocked(1);
    await newer.commit();
    expect(await late).toBeInstanceOf(StaleFenceError);
    expect(await rows()).toEqual([{ id: 'o1', state: 'paid', fence: `${NEWER.fence}` }]);
  });

  it('has a column of any name, and a form for values numbered by hand', async () => {
    const f = fencedSql(NEWER, { downstream: 'orders', column: 'Limit' });
    const { set, condition } = f.numbered(2);
    const text = `UPDATE "${sandbox.schema}".orders SET state = $1, ${set} WHERE id = $3 AND ${condition}`;
    const write = (value: string) => sandbox.pool.query({ text, values: ['paid', value, 'o1'] });
    expect(f.check(await write(f.value))).toMatchObject({ rowCount: 1 });
    expect(() => f.check({ rowCount: 0 })).toThrow(StaleFenceError);
    expect((await write(`${STALE.fence}`)).rowCount).toBe(0);
  });

  describe('that changed no row', () => {
    const observe = vi.fn<(event: LeaseEvent) => void>();
    beforeEach(() => observe.mockReset());

    function run(lease: typeof STALE, id: string, from: string) {
      const f = fencedSql(lease, { downstream: 'orders', observe });
      return runFenced(sandbox.pool, f, {
        write: sql`UPDATE ${orders()} SET state = 'x', ${f.set} WHERE id = ${id} AND state = ${from} AND ${f.condition}`,
        seen: sql`SELECT ${f.seen} FROM ${orders()} WHERE id = ${id}`,
      });
    }

    it('is told apart: stale, missing, or not matched by its own conditions', async () => {
      await update(NEWER, 'paid');
      await expect(run(STALE, 'o1', 'paid')).rejects.toThrow(`the row was written under fence ${NEWER.fence}`);
      expect(observe.mock.calls).toEqual([[{ name: 'fence.rejected', downstream: 'orders', ...STALE }]]);
      expect(await run(NEWER, 'nowhere', 'paid')).toEqual({ written: false, because: 'missing' });
      expect(await run(NEWER, 'o1', 'new')).toEqual({ written: false, because: 'unmatched' });
      expect(await run(NEWER, 'o1', 'paid')).toMatchObject({ written: true, result: { rowCount: 1 } });
      expect(observe).toHaveBeenCalledTimes(1);
    });

    it('is not matched where the row has no fence yet', async () => {
      expect(await run(STALE, 'o1', 'another state')).toEqual({ written: false, because: 'unmatched' });
    });
  });
});
