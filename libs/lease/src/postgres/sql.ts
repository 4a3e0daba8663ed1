import { quoteIdentifier } from './sql-statement.js';
import type { SqlQuery } from './sql-client.js';

/** A piece of a statement with its values, or all of one: `pg` and `mysql2` take it as it is, `sql` puts it into a larger one. */
export class SqlFragment implements SqlQuery {
  /** With `$1`, `$2`, … where the values belong. */
  readonly text: string;
  /** With `?` where the values belong. */
  readonly sql: string;
  readonly values: unknown[];
  /** The text around the values, one more than there are values. */
  readonly #pieces: readonly string[];

  constructor(pieces: readonly string[], values: readonly unknown[]) {
    this.values = [...values];
    this.#pieces = pieces;
    this.text = this.numbered(1);
    this.sql = pieces.join('?');
  }

  /** The text with `$first`, `$first + 1`, … where the values belong. */
  numbered(first: number): string {
    return this.#pieces.reduce((text, piece, place) => `${text}$${first + place - 1}${piece}`);
  }

  /** The text after `before` and in front of `after`, so that fragments join without a seam. */
  between(before: string, after: string): string[] {
    const pieces = [...this.#pieces];
    pieces[0] = `${before}${pieces[0] ?? ''}`;
    pieces.push(`${pieces.pop() ?? ''}${after}`);
    return pieces;
  }
}

/**
 * A statement, or a piece of one, in which whatever stands in `${…}` is sent as a value and never as text. Fragments in it
 * are joined and numbered anew.
 *
 * ```ts
 * const mine = sql`owner = ${name}`;
 * await pool.query(sql`UPDATE orders SET state = ${state} WHERE id = ${id} AND ${mine}`);
 * ```
 * @throws {TypeError} for `undefined`, which would be sent as NULL, and for a `$1` written by hand
 */
export function sql(pieces: TemplateStringsArray, ...parts: readonly unknown[]): SqlFragment {
  const byHand = pieces.find((piece) => /\$\d/.test(piece));
  if (byHand !== undefined) {
    throw new TypeError(
      `Expected values as \${…} in sql\`…\`, which numbers them itself, got ${JSON.stringify(byHand)}.`,
    );
  }
  let texts = [pieces[0] ?? ''];
  const values: unknown[] = [];
  for (const [at, part] of parts.entries()) {
    const after = pieces[at + 1] ?? '';
    const before = texts.pop() ?? '';
    if (part instanceof SqlFragment) {
      texts = [...texts, ...part.between(before, after)];
      values.push(...part.values);
    } else {
      texts.push(before, after);
      values.push(checkedValue(part, `${before}\${…}${after}`));
    }
  }
  return new SqlFragment(texts, values);
}

/**
 * A name of a schema, table or column as a fragment: `identifier('public', 'orders')` is `"public"."orders"`.
 * @throws {SetupError} for an invalid name
 */
export function identifier(...path: readonly string[]): SqlFragment {
  return new SqlFragment([path.map((name) => quoteIdentifier(name)).join('.')], []);
}

function checkedValue(value: unknown, where: string): unknown {
  if (value !== undefined) return value;
  throw new TypeError(`Expected a value in sql\`…\` at ${JSON.stringify(where)}, got undefined; write null for NULL.`);
}
