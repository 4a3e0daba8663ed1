import type { SqlClient, SqlQuery, SqlResult } from '../postgres/sql-client.js';

/** A pool or connection of `mysql2/promise`, for MySQL and MariaDB. */
export interface MysqlClient {
  query(query: { readonly sql: string; readonly values?: unknown[] }): Promise<readonly [unknown, unknown]>;
}

/** A database of `better-sqlite3` or `node:sqlite`. */
export interface SqliteClient {
  prepare(sql: string): {
    run(...values: unknown[]): { readonly changes: number | bigint };
    get(...values: unknown[]): unknown;
  };
}

/** What each dialect is spoken with. */
export interface SqlClients {
  readonly postgres: SqlClient;
  readonly mysql: MysqlClient;
  readonly sqlite: SqliteClient;
}

/** `mysql` is MariaDB's too. */
export type SqlDialect = keyof SqlClients;

/** What the clients answer to a write: `pg`, `better-sqlite3` and `node:sqlite`, `mysql2`. */
export type WriteResult =
  | { readonly rowCount: number | null }
  | { readonly changes: number | bigint }
  | readonly [{ readonly affectedRows: number; readonly info?: string }, unknown];

/** How many rows took the write, those that had the same values before included. */
export function writtenRows(result: WriteResult): number {
  if ('rowCount' in result) return result.rowCount ?? 0;
  if ('changes' in result) return Number(result.changes);
  const [{ affectedRows, info = '' }] = result;
  // Without the flag FOUND_ROWS of a connection, `affectedRows` leaves out the rows that had these values already.
  return Number(/^Rows matched: (\d+)/.exec(info)?.[1] ?? affectedRows);
}

type Ask<T> = { readonly [D in SqlDialect]: (client: SqlClients[D], query: SqlQuery) => Promise<T> };

/** Sends a write. */
export const WRITE: Ask<SqlResult> = {
  postgres: (client, query) => client.query(query),
  mysql: async (client, query) => written((await client.query(marked(query))) as WriteResult),
  sqlite: async (client, query) => {
    const { sql, values } = marked(query);
    return written(client.prepare(sql).run(...values));
  },
};

/** Asks for one row; `undefined` where there is none. */
export const READ: Ask<unknown> = {
  postgres: async (client, query) => (await client.query(query)).rows[0],
  mysql: async (client, query) => ((await client.query(marked(query)))[0] as readonly unknown[])[0],
  sqlite: async (client, query) => {
    const { sql, values } = marked(query);
    return client.prepare(sql).get(...values);
  },
};

function marked({ text, sql = text, values = [] }: SqlQuery): { sql: string; values: unknown[] } {
  return { sql, values };
}

function written(result: WriteResult): SqlResult {
  return { rows: [], rowCount: writtenRows(result) };
}
