import { describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { identifier, sql } from '@fencepost/lease/postgres';
import { transition } from '@fencepost/lease/sinks';
import { usePostgresSandbox } from '../support/postgres-sandbox.js';

describe('a transition', () => {
  const postgres = usePostgresSandbox(({ pool, schema }) =>
    pool.query(`
      CREATE SCHEMA "${schema}";
      CREATE TYPE "${schema}".state AS ENUM ('READY', 'RUNNING', 'DONE');
      CREATE TABLE "${schema}".jobs (id bigint PRIMARY KEY, status "${schema}".state, version int, note text);
      INSERT INTO "${schema}".jobs VALUES (1, 'READY', 7, 'kept'), (2, 'READY', 7, 'untouched')`),
  );

  const start = (over: Partial<Parameters<typeof transition>[1]> = {}) =>
    transition(postgres.sandbox.pool, {
      schema: postgres.sandbox.schema,
      table: 'jobs',
      id: 1,
      from: 'READY',
      to: 'RUNNING',
      version: 7,
      ...over,
    });
  const rows = async () =>
    (await postgres.sandbox.pool.query(`SELECT * FROM "${postgres.sandbox.schema}".jobs ORDER BY id`)).rows;
  const READY = { id: '1', status: 'READY', version: 7, note: 'kept' };
  const OTHER = { id: '2', status: 'READY', version: 7, note: 'untouched' };

  it('moves the row, counts its version up, and touches no other', async () => {
    expect(await start()).toEqual({ won: true, version: 8 });
    expect(await rows()).toEqual([{ ...READY, status: 'RUNNING', version: 8 }, OTHER]);
  });

  it('sets further columns in the same statement, where it is won', async () => {
    const set = sql`note = ${'worker 7'} || coalesce(' after ' || note, '')`;
    expect(await start({ set, version: 6 })).toMatchObject({ won: false });
    expect(await start({ set })).toEqual({ won: true, version: 8 });
    const note = 'worker 7 after kept';
    expect(await rows()).toEqual([{ ...READY, status: 'RUNNING', version: 8, note }, OTHER]);
  });

  it('is won by one of twenty who try at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => start()));
    expect(outcomes.filter(({ won }) => won)).toHaveLength(1);
    expect(outcomes.filter(({ won }) => !won)).toEqual(
      Array.from({ length: 19 }, () => ({ won: false, found: { status: 'RUNNING', version: 8 } })),
    );
  });

  it('tells a loser what the winner wrote while it waited', async () => {
    const winner = await postgres.sandbox.transaction(
      `UPDATE "${postgres.sandbox.schema}".jobs SET status = 'DONE', version = 9 WHERE id = 1`,
    );
    const lost = start();
    await postgres.sandbox.untilBlocked(1);
    await winner.commit();
    expect(await lost).toEqual({ won: false, found: { status: 'DONE', version: 9 } });
  });

  it.each([
    ['another status', { from: 'RUNNING', to: 'DONE' }],
    ['an older version', { version: 6 }],
    ['a newer version', { version: 8 }],
  ])('from %s than the row has changes nothing', async (_what, over) => {
    expect(await start(over)).toEqual({ won: false, found: { status: 'READY', version: 7 } });
    expect(await rows()).toEqual([READY, OTHER]);
  });

  it('of a row that is not there finds nothing', async () => {
    expect(await start({ id: 3 })).toEqual({ won: false, found: null });
  });

  it('takes columns and tables of any name', async () => {
    await postgres.sandbox.pool.query(`
      CREATE TABLE "${postgres.sandbox.schema}"."my ""jobs""" ("Key" text, "order" text, "v 1" bigint, ":set $1" text);
      INSERT INTO "${postgres.sandbox.schema}"."my ""jobs""" VALUES ('k', 'READY', 7)`);
    const columns = { id: 'Key', status: 'order', version: 'v 1' };
    const set = sql`${identifier(':set $1')} = ${'x'}`;
    expect(await start({ table: 'my "jobs"', id: 'k', columns, set })).toEqual({ won: true, version: 8 });
  });

  it('refuses what can not be a name before it asks', async () => {
    await expect(start({ columns: { status: '' } })).rejects.toThrow(SetupError);
  });
});
