import { EffectResultError } from './errors.js';
import { issuesText, type StandardSchema } from './payload-schema.js';

const MAX_RESULT = 64 * 1024;

type Became = ConstructorParameters<typeof EffectResultError>[2];

/**
 * Encodes a result for the ledger.
 * @throws {EffectResultError}
 */
export function encodeResult(effect: string, result: unknown, became?: Became): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(result ?? null);
  } catch (cause) {
    throw new EffectResultError(effect, cause, became);
  }
  if (json === undefined) throw new EffectResultError(effect, 'it is not data', became);
  const lost = lostInResult(result);
  if (lost !== null) throw new EffectResultError(effect, `JSON can't carry ${lost}`, became);
  if (Buffer.byteLength(json) > MAX_RESULT) {
    throw new EffectResultError(effect, 'it is larger than 64 KiB', became);
  }
  return json;
}

/**
 * The first part of a result that JSON would silently change, and its path; `null` if there is none. Values with `toJSON`, such
 * as dates, are fine: they say themselves what they become. `undefined` is absent from an object for whoever reads it too; in
 * an array it would become `null`.
 */
function lostInResult(value: unknown, path = 'result'): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${value} (at ${path})`;
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value} (at ${path})`;
  if (typeof value !== 'object' || value === null) return null;
  if ('toJSON' in value && typeof value.toJSON === 'function') return null;
  if (Array.isArray(value)) return firstLost(value.entries(), (index) => `${path}[${index}]`);
  if (!isPlain(value)) return `${instance(value)} (at ${path})`;
  return firstLost(Object.entries(value), (key) => `${path}.${key}`, { mayBeAbsent: true });
}

function firstLost<Key>(
  parts: Iterable<[Key, unknown]>,
  pathOf: (key: Key) => string,
  { mayBeAbsent = false } = {},
): string | null {
  for (const [key, part] of parts) {
    const lost = part === undefined && !mayBeAbsent ? `undefined (at ${pathOf(key)})` : lostInResult(part, pathOf(key));
    if (lost !== null) return lost;
  }
  return null;
}

/** Also when it comes from another realm, as in tests of Jest: nothing is above the prototype of plain objects. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function instance(value: object): string {
  const { constructor: made } = value as { readonly constructor?: { readonly name: string } };
  return `an instance of ${made?.name || 'a class'}`;
}

/**
 * A result as every attempt gets it, the first one included, so that a handler can't depend on more than the ledger keeps.
 * @param became for the error: whether the result was about to be recorded, or was read back
 * @throws {EffectResultError}
 */
export async function decodeResult<T>(
  effect: string,
  json: string,
  { schema, became }: { readonly schema: StandardSchema<T> | null; readonly became: Became },
): Promise<T> {
  const value: unknown = JSON.parse(json);
  if (schema === null) return value as T;
  const result = await validate(schema, value);
  if (result.issues === undefined) return result.value;
  throw new EffectResultError(effect, `it does not match its schema (${issuesText(result.issues)})`, became);
}

/** A schema that throws rejects the value, like one that returns issues. */
async function validate<T>(schema: StandardSchema<T>, value: unknown) {
  try {
    return await schema['~standard'].validate(value);
  } catch (error) {
    return { issues: [{ message: String(error) }] };
  }
}
