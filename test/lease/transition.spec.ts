import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { transition } from '@fencepost/lease/sinks';
import { postgresRoom } from '../support/postgres-room.js';
import type { PostgresRoom } from '../support/postgres-room.js';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres?.stop());

describe('a transition', () => {
  let room: PostgresRoom;
  beforeEach(async () => {
    room = postgresRoom(postgres.url);
    await room.pool.query(`
      CREATE SCHEMA "${room.schema}";
      CREATE TYPE "${room.schema}".state AS ENUM ('READY', 'RUNNING', 'DONE');
      CREATE TABLE "${room.schema}".jobs (id bigint PRIMARY KEY, status "${room.schema}".state, version int, note text);
      INSERT INTO "${room.schema}".jobs VALUES (1, 'READY', 7, 'kept'), (2, 'READY', 7, 'untouched')`);
  });
  afterEach(() => room.close());

  const start = (over: Partial<Parameters<typeof transition>[1]> = {}) =>
    transition(room.pool, {
      schema: room.schema,
      table: 'jobs',
      id: 1,
      from: 'READY',
      to: 'RUNNING',
      version: 7,
      ...over,
    });
  const rows = async () => (await room.pool.query(`SELECT * FROM "${room.schema}".jobs ORDER BY id`)).rows;
  const READY = { id: '1', status: 'READY', version: 7, note: 'kept' };
  const OTHER = { id: '2', status: 'READY', version: 7, note: 'untouched' };

  it('moves the row, counts its version up, and touches no other', async () => {
    expect(await start()).toEqual({ won: true, version: 8 });
    expect(await rows()).toEqual([{ ...READY, status: 'RUNNING', version: 8 }, OTHER]);
  });

  it('is won by one of twenty who try at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => start()));
    expect(outcomes.filter(({ won }) => won)).toHaveLength(1);
    expect(outcomes.filter(({ won }) => !won)).toEqual(
      Array.from({ length: 19 }, () => ({ won: false, found: { status: 'RUNNING', version: 8 } })),
    );
  });

  it('tells a loser what the winner wrote while it waited', async () => {
    const winner = await room.transaction(`UPDATE "${room.schema}".jobs SET status = 'DONE', version = 9 WHERE id = 1`);
    const lost = start();
    await room.untilBlocked(1);
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
    await room.pool.query(`
      CREATE TABLE "${room.schema}"."my ""jobs""" ("Key" text, "order" text, "v 1" bigint);
      INSERT INTO "${room.schema}"."my ""jobs""" VALUES ('k', 'READY', 7)`);
    const columns = { id: 'Key', status: 'order', version: 'v 1' };
    expect(await start({ table: 'my "jobs"', id: 'k', columns })).toEqual({ won: true, version: 8 });
  });

  it('refuses what can not be a name before it asks', async () => {
    await expect(start({ columns: { status: '' } })).rejects.toThrow(SetupError);
  });
});
