import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StaleFenceError, parseFence, type LeaseEvent } from '@fencepost/lease';
import { identifier, sql, createFenceTable } from '@fencepost/lease/postgres';
import { fencedSql, runFenced, RedisFencedRows, PostgresFenceGate } from '@fencepost/lease/sinks';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { rejectionOf } from '../support/refusals.js';
import { usePostgresSandbox } from '../support/postgres-sandbox.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { fenceGateContract } from '../contracts/fence-gate.contract.js';

describe('a fenced statement', () => {
  const STALE = { resource: 'order:1', fence: parseFence('8000000000000001') };

  const NEWER = { resource: 'order:1', fence: parseFence('8000000000000002') };

  const postgres = usePostgresSandbox(({ pool, schema }) =>
    pool.query(`
      CREATE SCHEMA "${schema}";
      CREATE TABLE "${schema}".orders (id text PRIMARY KEY, state text NOT NULL, fence bigint, "Limit" bigint);
      INSERT INTO "${schema}".orders VALUES ('o1', 'new', NULL, NULL)`),
  );

  const orders = () => identifier(postgres.sandbox.schema, 'orders');
  const rows = async () =>
    (await postgres.sandbox.pool.query(sql`SELECT id, state, fence FROM ${orders()} ORDER BY id`)).rows;

  function update(lease: typeof STALE, state: string) {
    const f = fencedSql(lease, { downstream: 'orders' });
    const write = sql`UPDATE ${orders()} SET state = ${state}, ${f.set} WHERE id = ${'o1'} AND ${f.condition}`;
    return postgres.sandbox.pool.query(write).then((result) => f.check(result));
  }

  function upsert(lease: typeof STALE, id: string, state: string) {
    const f = fencedSql(lease, { downstream: 'orders', table: 'kept' });
    const write = sql`
      INSERT INTO ${orders()} AS kept (id, state, fence) VALUES (${id}, ${state}, ${f.value})
      ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, ${f.setExcluded} WHERE ${f.conflictCondition}`;
    return postgres.sandbox.pool.query(write).then((result) => f.check(result));
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
    const newer = await postgres.sandbox.transaction(
      `UPDATE "${postgres.sandbox.schema}".orders SET state = 'paid', fence = ${NEWER.fence}`,
    );
    const late = rejectionOf(update(STALE, 'late'));
    await postgres.sandbox.untilBlocked(1);
    await newer.commit();
    expect(await late).toBeInstanceOf(StaleFenceError);
    expect(await rows()).toEqual([{ id: 'o1', state: 'paid', fence: `${NEWER.fence}` }]);
  });

  describe('that changed no row', () => {
    const observe = vi.fn<(event: LeaseEvent) => void>();
    beforeEach(() => observe.mockReset());

    function run(lease: typeof STALE, id: string, from: string) {
      const f = fencedSql(lease, { downstream: 'orders', observe });
      return runFenced(postgres.sandbox.pool, f, {
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

describe('rows that refuse a stale writer', () => {
  const OLD = parseFence('1787654321123456');
  const NEW = parseFence('1787654321123457');

  let redis: RedisClient;
  let rows: RedisFencedRows;

  beforeEach(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 2_000, name: 'fenced-rows' });
    rows = new RedisFencedRows({ redis, prefix: freshPrefix(), tenant: 'default', table: 'sink' });
  });

  afterEach(async () => {
    await closeRedis(redis);
  });

  const write = (fence: typeof OLD, idempotencyKey: string, value = idempotencyKey) =>
    rows.write({ row: 'balance', value, fence, idempotencyKey });

  it('takes a write under an equal or a larger fence', async () => {
    expect(await write(OLD, 'first')).toBe('written');
    expect(await write(OLD, 'second')).toBe('written');
    expect(await write(NEW, 'third')).toBe('written');
    expect(await rows.read('balance')).toBe('third');
  });

  it('refuses a lower fence by one, changes nothing, and counts it', async () => {
    await write(NEW, 'by the successor');
    await expect(write(OLD, 'by the one that was frozen')).rejects.toThrowError(StaleFenceError);
    expect(await rows.read('balance')).toBe('by the successor');
    expect(await rows.turnedDown()).toEqual({ stale: 1, repeated: 0 });
    expect(await rows.journal()).toEqual([{ row: 'balance', idempotencyKey: 'by the successor', fence: NEW }]);
  });

  it('recognises a repeated write by its key, under whatever fence, and changes nothing', async () => {
    await write(OLD, 'charge', 'as charged');
    expect(await write(NEW, 'charge', 'charged again')).toBe('repeated');
    expect(await rows.read('balance')).toBe('as charged');
    expect(await rows.turnedDown()).toEqual({ stale: 0, repeated: 1 });
  });

  it('accepts one of fifty writes that race under one key', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => write(NEW, 'once')));
    expect(replies.filter((reply) => reply === 'written')).toHaveLength(1);
    expect(await rows.journal()).toHaveLength(1);
  });
});

describe('the fence gate in PostgreSQL', () => {
  const postgres = usePostgresSandbox(({ pool, schema }) => createFenceTable(pool, { schema }));

  fenceGateContract('a gate in PostgreSQL', (options) => {
    return new PostgresFenceGate({ client: postgres.sandbox.pool, schema: postgres.sandbox.schema, ...options });
  });

  describe('a gate in PostgreSQL', () => {
    const [OLDER, NEWER] = [parseFence('41'), parseFence('42')];
    const gate = (client = postgres.sandbox.pool) => new PostgresFenceGate({ client, schema: postgres.sandbox.schema });

    it('locks the resource for the whole transaction, also when the fence is not a new one', async () => {
      await gate().admit('r', OLDER);
      const connection = await postgres.sandbox.pool.connect();
      await connection.query('BEGIN');
      await new PostgresFenceGate({ client: connection, schema: postgres.sandbox.schema }).admit('r', OLDER);
      const newer = gate().admit('r', NEWER);
      await postgres.sandbox.untilBlocked(1);
      await connection.query('ROLLBACK');
      connection.release();
      await newer;
      await expect(gate().admit('r', OLDER)).rejects.toThrow(StaleFenceError);
    });

    it('forgets an admission that was rolled back', async () => {
      const connection = await postgres.sandbox.pool.connect();
      await connection.query('BEGIN');
      await new PostgresFenceGate({ client: connection, schema: postgres.sandbox.schema }).admit('r', NEWER);
      await connection.query('ROLLBACK');
      connection.release();
      await gate().admit('r', OLDER);
      expect((await postgres.sandbox.pool.query(`SELECT fence FROM "${postgres.sandbox.schema}".fences`)).rows).toEqual(
        [{ fence: `${OLDER}` }],
      );
    });
  });
});
