import { SetupError } from '../base/errors.js';

/** PostgreSQL cuts longer names without an error, so that two long ones become one. */
const MAX_BYTES = 63;

/**
 * A name of a schema, table or column for the text of a statement, where no `$1` can stand: `orders` becomes `"orders"`.
 * Quoted, it is this very name: upper case stays upper case, and a reserved word is a name like any other.
 * @throws {SetupError} for an empty name, one of more than 63 bytes, or one with a zero byte
 */
export function quoteIdentifier(name: string): string {
  const bytes = Buffer.byteLength(name);
  if (bytes > 0 && bytes <= MAX_BYTES && !name.includes('\0')) return `"${name.replaceAll('"', '""')}"`;
  throw new SetupError(
    `Expected a name of 1 to ${MAX_BYTES} bytes for a schema, table or column of PostgreSQL, got ${JSON.stringify(name)}.`,
  );
}
