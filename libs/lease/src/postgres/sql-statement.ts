import type { SqlClient, SqlQuery, SqlResult } from './sql-client.js';
import { SetupError } from '../base/errors.js';
import { textOf, type Texts as Files } from '../base/read-texts.js';

/** The names of schema, table and columns a statement is about, by their place in it. */
export type Names = Readonly<Record<string, string>>;

/** What stands at a place for text. */
export type Texts = Readonly<Partial<Record<'set' | 'table' | 'lock', string>>>;

/** `:"table"`, as psql writes a variable that is a quoted name, and `:set`, as it writes one that is text. */
const PLACE = /:"([a-z]+)"|:(set|table|lock)\b/g;
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
  about(names: Names, texts: Texts = {}, quote: Quote = '"'): BoundStatement {
    const text = this.#text.replace(PLACE, (_place, key: string | undefined, known: keyof Texts) =>
      key === undefined ? (texts[known] ?? '') : quoteIdentifier(names[key] ?? '', quote),
    );
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

/** The statement `<name>.sql` for each name. */
export function loadStatements<N extends string>(files: Files, names: readonly N[]): Record<N, SqlStatement> {
  const read = (name: N) => new SqlStatement(name, textOf(files, `${name}.sql`));
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<N, SqlStatement>;
}

/** MySQL knows the second alone, and SQLite takes an unknown name in the first for a string. */
export type Quote = '"' | '`';

/** PostgreSQL cuts longer names without an error, so that two long ones become one. */
const MAX_BYTES = 63;

/**
 * A name of a schema, table or column for the text of a statement, where no `$1` can stand: `orders` becomes `"orders"`.
 * Quoted, it is this very name: upper case stays upper case, and a reserved word is a name like any other.
 * @throws {SetupError} for an empty name, one of more than 63 bytes, or one with a zero byte
 */
export function quoteIdentifier(name: string, quote: Quote = '"'): string {
  const bytes = Buffer.byteLength(name);
  const isName = bytes > 0 && bytes <= MAX_BYTES && !name.includes('\0');
  if (isName) return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
  throw new SetupError(
    `Expected a name of 1 to ${MAX_BYTES} bytes for a schema, table or column, got ${JSON.stringify(name)}.`,
  );
}
