/**
 * A value as `pg` sends it. A list of texts becomes a text[], every other object JSON, and a number its digits.
 *
 * Half a surrogate pair is no character in UTF-8, and a zero byte none in PostgreSQL: both become U+FFFD, so that no error
 * text and no name of an operator keeps a run from being recorded.
 */
export function sqlValue(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number') return value.toFixed(0);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.map(storable);
  if (typeof value === 'object' && value !== null) return sqlJson(value);
  return value ?? null;
}

/** JSON that a jsonb takes, also of a list. */
export function sqlJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Either would be there as an escape; to look at each text in it takes as long as all else that a begin costs the ledger.
  if (!text.includes(String.raw`\u`)) return text;
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? storable(inner) : inner));
}

/** What PostgreSQL makes a text of. */
export function storable(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\u{FFFD}').replaceAll('\0', '\u{FFFD}');
}

/** A value as it stands in the text of a statement, where a message has several: those take no parameters. */
export function sqlLiteral(value: unknown): string {
  const text = sqlValue(value);
  if (text === null) return 'null';
  if (typeof text !== 'string') throw new TypeError(`Expected a value that is one literal, got ${typeof text}.`);
  const quoted = text.replaceAll("'", "''");
  // Whatever the session takes a plain backslash for.
  return quoted.includes('\\') ? ` E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
}
