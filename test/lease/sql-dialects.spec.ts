import { randomUUID } from 'node:crypto';
import { createPool, type Pool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StaleFenceError, parseFence } from '@fencepost/lease';
import { identifier, sql } from '@fencepost/lease/postgres';
import { fencedSql, transition } from '@fencepost/lease/sinks';
import { sqlDialectContract, type SqlDialectHarness } from '../contracts/sql-dialect.contract.js';
import { mariadbForTests, type TestMariadb } from '../support/mariadb.js';
import { usePostgresSandbox } from '../support/postgres-sandbox.js';
import { rejectionOf } from '../support/refusals.js';
import { sqliteInMemory } from '../support/sqlite.js';

const TABLES = [
  'CREATE TABLE orders (id varchar(20) PRIMARY KEY, state varchar(20) NOT NULL, fence bigint)',
  'CREATE TABLE jobs (id bigint PRIMARY KEY, status varchar(20), version int, note varchar(40))',
  "INSERT INTO orders VALUES ('o1', 'new', NULL)",
  "INSERT INTO jobs VALUES (1, 'READY', 7, 'kept')",
];

function asText(row: object): Record<string, string | null> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : `${value}`]));
}

describe('SQL of PostgreSQL', () => {
  const postgres = usePostgresSandbox(({ pool, schema }) => pool.query(`CREATE SCHEMA "${schema}"`));

  sqlDialectContract('PostgreSQL', 'postgres', async () => {
    const { schema } = postgres.sandbox;
    const client = postgres.sandbox.another({ options: `-c search_path=${schema}` });
    await client.query(TABLES.join(';'));
    return {
      ...{ client, schema },
      write: (statement) => client.query(statement),
      rows: async (statement) => (await client.query<object>(statement)).rows.map(asText),
      close: async () => {},
    };
  });
});

describe('SQL of MariaDB', () => {
  let mariadb: TestMariadb;
  beforeAll(async () => {
    mariadb = await mariadbForTests();
  });

  async function freshDatabase(flags: string[] = []): Promise<Pool> {
    const database = `test_${randomUUID().slice(0, 8)}`;
    const server = createPool({ host: '127.0.0.1', port: mariadb.port, user: 'root' });
    await server.query(`CREATE DATABASE ${database}`);
    await server.end();
    const numbers = { supportBigNumbers: true, bigNumberStrings: true };
    const pool = createPool({ host: '127.0.0.1', port: mariadb.port, user: 'root', database, flags, ...numbers });
    for (const statement of TABLES) await pool.query(statement);
    return pool;
  }

  async function harness(flags?: string[]): Promise<SqlDialectHarness> {
    const client = await freshDatabase(flags);
    return {
      client,
      write: (statement) => client.query<ResultSetHeader>(statement),
      rows: async (statement) => (await client.query<RowDataPacket[]>(statement))[0].map(asText),
      close: () => client.end(),
    };
  }

  sqlDialectContract('MariaDB', 'mysql', () => harness());
  sqlDialectContract('MariaDB that counts only rows which were changed', 'mysql', () => harness(['-FOUND_ROWS']));

  describe('MariaDB', () => {
    let pool: Pool;
    beforeEach(async () => {
      pool = await freshDatabase();
    });
    afterEach(() => pool.end());

    const waiting = async () => {
      const [rows] = await pool.query<RowDataPacket[]>(
        "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%orders%'",
      );
      return rows.length;
    };

    it('decides on the row as the newer owner left it, also when both write at once', async () => {
      const newer = await pool.getConnection();
      await newer.beginTransaction();
      await newer.query("UPDATE orders SET state = 'paid', fence = 42");
      const f = fencedSql({ resource: 'order:1', fence: parseFence('41') }, { downstream: 'orders', dialect: 'mysql' });
      const late = pool.query<ResultSetHeader>(sql`UPDATE orders SET state = ${'late'}, ${f.set} WHERE ${f.condition}`);
      const refused = rejectionOf(late.then((result) => f.check(result)));
      // The server renews this table when nobody has read it for a tenth of a second.
      await expect.poll(waiting, { interval: 150, timeout: 10_000 }).toBe(1);
      await newer.commit();
      newer.release();
      expect(await refused).toBeInstanceOf(StaleFenceError);
      expect((await pool.query<RowDataPacket[]>('SELECT state FROM orders'))[0]).toEqual([{ state: 'paid' }]);
    });

    it('tells a loser what the winner wrote, also in a transaction that began before', async () => {
      const client = await pool.getConnection();
      await client.beginTransaction();
      await client.query('SELECT * FROM jobs');
      await pool.query("UPDATE jobs SET status = 'DONE', version = 9");
      const asked = { table: 'jobs', id: 1, from: 'READY', to: 'RUNNING', version: 7 };
      const lost = await transition(client, { dialect: 'mysql', ...asked });
      await client.rollback();
      client.release();
      expect(lost).toEqual({ won: false, found: { status: 'DONE', version: 9 } });
    });
  });
});

type Sqlite = Awaited<ReturnType<typeof sqliteInMemory>>;

/** As much of `node:sqlite` as this needs; Node 20 has none. */
interface BuiltInSqlite {
  readonly DatabaseSync: new (path: string) => Sqlite;
}

async function sqliteHarness(database: Sqlite): Promise<SqlDialectHarness> {
  for (const statement of TABLES) database.exec(statement);
  const columns = 'CAST(id AS CHAR) AS id';
  return {
    client: database,
    write: async ({ sql: text, values }) => database.prepare(text).run(...values),
    rows: async ({ sql: text, values }) => {
      const from = `(SELECT row_number() OVER () AS place, * FROM (${text.replace('SELECT id', `SELECT ${columns}`)}))`;
      const rows = [];
      for (let place = 1; ; place += 1) {
        const row = database.prepare(`SELECT * FROM ${from} WHERE place = ${place}`).get(...values);
        if (!row) return rows.map(asText).map(({ place: _place, ...shown }) => shown);
        rows.push(row);
      }
    },
    close: async () => database.close(),
  };
}

describe('SQL of SQLite', () => {
  sqlDialectContract('SQLite', 'sqlite', async () => sqliteHarness(await sqliteInMemory()));

  const builtIn = process.getBuiltinModule('node:sqlite') as unknown as BuiltInSqlite | undefined;
  describe.skipIf(!builtIn)('of Node, where it has one', () => {
    sqlDialectContract('node:sqlite', 'sqlite', () => sqliteHarness(new builtIn!.DatabaseSync(':memory:')));
  });
});

describe('fences in SQLite', () => {
  it('are compared as numbers, also in a column that has no type', async () => {
    const database = await sqliteInMemory();
    database.exec('CREATE TABLE orders (id int, fence)');
    database.exec('INSERT INTO orders VALUES (1, NULL)');
    const write = (fence: string) => {
      const lease = { resource: 'order:1', fence: parseFence(fence) };
      const f = fencedSql(lease, { downstream: 'orders', dialect: 'sqlite' });
      const { sql: text, values } = sql`UPDATE orders SET ${f.set} WHERE ${f.condition}`;
      f.check(database.prepare(text).run(...values));
    };
    for (const fence of ['9', '10']) write(fence);
    expect(() => write('9')).toThrow(StaleFenceError);
    database.close();
  });
});

describe('names in MySQL and SQLite', () => {
  it('are quoted with backticks, so that SQLite takes none for a text', async () => {
    const database = await sqliteInMemory();
    database.exec('CREATE TABLE `my ``jobs``` (`Key` text, `order` text, `v 1` bigint)');
    database.exec("INSERT INTO `my ``jobs``` VALUES ('k', 'READY', 7)");
    const columns = { id: 'Key', status: 'order', version: 'v 1' };
    const asked = { dialect: 'sqlite' as const, schema: 'main', table: 'my `jobs`', columns };
    const moved = await transition(database, { ...asked, id: 'k', from: 'READY', to: 'DONE', version: 7 });
    expect(moved).toEqual({ won: true, version: 8 });
    const lease = { resource: 'r', fence: parseFence('4') };
    const f = fencedSql(lease, { downstream: 'd', dialect: 'sqlite', column: 'no such column' });
    const statement = sql`UPDATE ${identifier('my `jobs`')} SET ${f.set} WHERE ${f.condition}`;
    expect(() => database.prepare(statement.sql).run(...statement.values)).toThrow('no such column');
    database.close();
  });
});
