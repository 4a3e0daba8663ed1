import { readFileSync } from 'node:fs';
import { quoteIdentifier } from './identifier.js';
import type { SqlClient, SqlQuery, SqlResult } from './sql-client.js';

/** The names of schema, table and columns a statement is about, by their place in it. */
export type Names = Readonly<Record<string, string>>;

/** `:"table"`, as psql writes a variable that is a quoted name. */
const PLACE = /:"([a-z]+)"/g;
const COMMENT = /^\s*--.*\n/gm;

/** A statement from a file, in which only the names are still open. */
export class SqlStatement {
  readonly #text: string;

  constructor(
    readonly name: string,
    text: string,
  ) {
    // The server shows the beginning of a running query, which should be the statement.
    this.#text = text.replace(COMMENT, '');
  }

  /** @throws {SetupError} for a name that can't be one */
  about(names: Names): BoundStatement {
    const text = this.#text.replace(PLACE, (_place, key: string) => quoteIdentifier(names[key] ?? ''));
    return new BoundStatement(text);
  }
}

/** A statement that can be sent. */
export class BoundStatement {
  constructor(readonly text: string) {}

  with(...values: unknown[]): SqlQuery {
    return { text: this.text, values };
  }

  run(client: SqlClient, ...values: unknown[]): Promise<SqlResult> {
    return client.query(this.with(...values));
  }
}

/**
 * Reads `<name>.sql` for each name.
 * @param directory with a `/` at its end, as in `new URL('../sql/', import.meta.url)`
 */
export function loadStatements<N extends string>(directory: URL, names: readonly N[]): Record<N, SqlStatement> {
  const read = (name: N) => new SqlStatement(name, readFileSync(new URL(`${name}.sql`, directory), 'utf8'));
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<N, SqlStatement>;
}
