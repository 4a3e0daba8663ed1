import { createHash } from 'node:crypto';

/**
 * A hash of what JSON keeps of a value, the same for objects whose keys stand in another order. SHA-256, in hex.
 * @throws {TypeError} for what JSON can't carry: a bigint, a circle, a function
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
