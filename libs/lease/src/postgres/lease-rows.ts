import { SetupError } from '../base/errors.js';
import type { SqlPool, SqlQuery, SqlResult } from './sql-client.js';
import { loadStatements } from './sql-statement.js';
import type { BoundStatement, Names } from './sql-statement.js';
import { quotedTable } from './table.js';
import { TEXTS } from '../sql/texts.js';

const STATEMENTS = [
  'acquire-lease',
  'acquire-session-leases',
  'close-session',
  'close-session-of',
  'evict-lease',
  'inspect-leases',
  'list-leases',
  'open-session',
  'release-leases',
  'renew-leases',
  'renew-session',
  'sweep-sessions',
] as const;

type StatementName = (typeof STATEMENTS)[number];

const statements = loadStatements(TEXTS, STATEMENTS);

/** A serialization failure and a deadlock: nothing was done, and the same statement may be sent again. */
const ASK_AGAIN = new Set(['40001', '40P01']);
/** The table, or its schema, isn't there. */
const MISSING = new Set(['42P01', '3F000']);
const MAX_TRIES = 20;
/** The constraint's refusal: the fence is too large for a double. */
const CHECK_VIOLATION = '23514';
const NO_PRIVILEGE = '42501';

/** What is asked of one table about one space. */
export class LeaseRows {
  readonly #client: SqlPool;
  readonly #space: string;
  readonly #statements: Record<StatementName, BoundStatement>;
  readonly #remedy: string;

  constructor({ client, names, space }: { client: SqlPool; names: Names; space: string }) {
    const bound = Object.entries(statements).map(([name, statement]) => [name, statement.about(names)]);
    this.#client = client;
    this.#space = space;
    this.#statements = Object.fromEntries(bound) as Record<StatementName, BoundStatement>;
    this.#remedy = `call createLeaseTable() once before, with the same schema and table (${quotedTable(names)}).`;
  }

  /** @throws {SetupError} when the table isn't there, and everything else as the client throws it */
  async ask(name: StatementName, ...values: readonly unknown[]): Promise<readonly unknown[]> {
    return (await this.#send(this.#statements[name].with(this.#space, ...values))).rows;
  }

  /**
   * Sends a statement that is a transaction of its own, again where the server aborted it in favour of another transaction.
   *
   * Under READ COMMITTED that doesn't happen to the statements of this library. Where a database or a role has REPEATABLE READ
   * or SERIALIZABLE as its default, a statement that had to wait for another one fails instead of looking again.
   */
  async #send(query: SqlQuery): Promise<SqlResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#client.query(query);
      } catch (error) {
        const state = sqlState(error) ?? '';
        if (MISSING.has(state)) throw new SetupError(`${(error as Error).message}: ${this.#remedy}`, { cause: error });
        if (!ASK_AGAIN.has(state) || tries === MAX_TRIES) throw error;
      }
    }
  }
}

/** Whether the server refused because a fence would pass 2^53 − 1. */
export function isFenceExhausted(error: unknown): boolean {
  return sqlState(error) === CHECK_VIOLATION;
}

/** Whether the server refused because the role may not do it. */
export function isNotAllowed(error: unknown): boolean {
  return sqlState(error) === NO_PRIVILEGE;
}

/** PostgreSQL's SQLSTATE. */
function sqlState(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
