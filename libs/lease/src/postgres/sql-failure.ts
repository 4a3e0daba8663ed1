import { SetupError } from '../base/errors.js';
import type { SqlClient, SqlQuery, SqlResult } from './sql-client.js';

/** A serialization failure and a deadlock: nothing was done, and the same statement may be sent again. */
const ASK_AGAIN = new Set(['40001', '40P01']);
/** The table, or its schema, isn't there. */
const MISSING = new Set(['42P01', '3F000']);
const MOST_TRIES = 20;

/** The five characters by which PostgreSQL tells its errors apart. */
export function sqlState(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Sends a statement that is a transaction of its own, again where the server gave up on it because of somebody else's.
 *
 * Under READ COMMITTED that doesn't happen to the statements of this library. Where a database or a role has REPEATABLE READ
 * or SERIALIZABLE as its default, a statement that had to wait for another one fails instead of looking again.
 * @param remedy what to do when the table isn't there
 * @throws {SetupError} when the table isn't there, and everything else as the client throws it
 */
export async function ask(client: SqlClient, query: SqlQuery, remedy: string): Promise<SqlResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.query(query);
    } catch (error) {
      const state = sqlState(error) ?? '';
      if (MISSING.has(state)) throw new SetupError(`${(error as Error).message}: ${remedy}`, { cause: error });
      if (!ASK_AGAIN.has(state) || tries === MOST_TRIES) throw error;
    }
  }
}
