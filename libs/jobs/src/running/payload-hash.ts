import { createHash } from 'node:crypto';

/**
 * A SHA-256 hash, in hex, of a value as JSON; the order of keys does not matter.
 * @throws {TypeError} for a value that JSON can't represent: a bigint, a circular value, a function
 */
export function payloadHash(value: unknown): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new TypeError('it is not data');
  return createHash('sha256')
    .update(canonical(JSON.parse(json)))
    .digest('hex');
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join(',')}}`;
}
