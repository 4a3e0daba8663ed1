import { afterAll, beforeAll, expect, it } from 'vitest';
import { Telemetry } from '@fencepost/jobs';
import { openDatabase } from '../../libs/jobs/src/nest/postgres-database.js';
import { jobsSettings } from '../../libs/jobs/src/nest/options.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

let server: TestPostgres;
beforeAll(async () => {
  server = await postgresForTests();
});
afterAll(() => server.stop());

async function opened() {
  const settings = jobsSettings({ redis: 'redis://localhost:6379', ledger: 'postgres', postgres: server.url });
  const database = await openDatabase(settings, new Telemetry());
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
