import initSqlJs from 'sql.js';
import type { SqlValue } from 'sql.js';
import type { transition } from '@fencepost/lease/sinks';

type SqliteClient = Extract<Parameters<typeof transition>[0], { prepare: unknown }>;

/**
 * SQLite itself, compiled to WebAssembly, in the shape of `better-sqlite3` and `node:sqlite`: the one needs a newer Node than
 * the oldest that is supported, the other is part of a newer one.
 */
export async function sqliteInMemory(): Promise<SqliteClient & { exec(text: string): unknown; close(): void }> {
  const { Database } = await initSqlJs();
  const database = new Database();
  return {
    exec: (text) => database.exec(text),
    close: () => database.close(),
    prepare: (text) => ({
      run: (...values) => {
        database.run(text, values as SqlValue[]);
        return { changes: database.getRowsModified() };
      },
      get: (...values) => {
        const statement = database.prepare(text, values as SqlValue[]);
        try {
          return statement.step() ? statement.getAsObject() : undefined;
        } finally {
          statement.free();
        }
      },
    }),
  };
}
