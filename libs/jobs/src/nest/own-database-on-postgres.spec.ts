import { beforeAll, expect, it } from 'vitest';
import { Telemetry } from '../telemetry/telemetry.js';
import { systemClock, type Clock } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { MAX_MS } from './postgres-deadline-pool.js';
import { openDatabase } from './stores.js';
import { jobsSettings } from './options.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';

let server: TestPostgres;
beforeAll(async () => {
  server = await postgresForTests();
});

async function opened(clock: Clock = systemClock) {
  const settings = jobsSettings({ redis: 'redis://localhost:6379', ledger: 'postgres', postgres: server.url });
  const database = await openDatabase(settings, new Telemetry(), clock);
  if (!database) throw new Error('Expected a database of its own.');
  return database;
}

it("asks whether a handler's pod is still there before its locks have kept anybody waiting for hours", async () => {
  const database = await opened();
  const connection = await database.transactions.connect();
  const { rows } = await connection.query({ text: `select current_setting('tcp_keepalives_idle')::int as idle` });
  connection.release();
  await database.close();
  expect(rows).toEqual([{ idle: 10 }]);
});

it('hears of the end of a connection also before whoever gets it listens: nobody else would, and the process would end', async () => {
  const database = await opened();
  for (const pool of [database.pool, database.transactions]) {
    const connection = await pool.connect();
    expect(
      Reflect.apply(Reflect.get(connection, 'listenerCount') as (event: string) => number, connection, ['error']),
    ).toBe(1);
    connection.release();
  }
  await database.close();
});

/** How the driver words it depends on what it notices first. */
const CUT_OFF = expect.not.stringMatching(/^answered$|timeout/);

it('is not kept by what gets no answer, neither while its process ends nor when it is closed', async () => {
  const clock = new ManualClock();
  const database = await opened(clock);
  // Connected first: how long each is in use counts from then on.
  const used = (pool: typeof database.pool) => pool.connect();
  const endOf = (connection: Awaited<ReturnType<typeof used>>) =>
    connection
      .query({ text: 'select pg_sleep(60)' })
      .then(() => 'answered', String)
      .finally(() => connection.release());
  const ends = (await Promise.all([used(database.pool), used(database.transactions)])).map(endOf);
  database.enforceDeadline();
  await clock.advance(MAX_MS);
  // Neither answered, nor given up after the time that any statement may take.
  expect(await Promise.all(ends)).toEqual(Array(2).fill(CUT_OFF));
  expect(await database.pool.query({ text: 'select 1 as one' })).toMatchObject({ rows: [{ one: 1 }] });
  const last = endOf(await used(database.pool));
  const closed = database.close();
  await clock.advance(MAX_MS);
  expect(await last).toEqual(CUT_OFF);
  await closed;
});

it('gives what is quick the time it takes, while its process ends', async () => {
  const clock = new ManualClock();
  const database = await opened(clock);
  const connection = await database.transactions.connect();
  database.enforceDeadline();
  await clock.advance(MAX_MS - 1);
  expect(await connection.query({ text: 'select 1 as one' })).toMatchObject({ rows: [{ one: 1 }] });
  connection.release();
  await clock.advance(MAX_MS);
  await database.close();
});
