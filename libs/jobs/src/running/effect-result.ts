import { EffectResultError } from './errors.js';
import { issuesText, type StandardSchema } from './standard-schema.js';

const MAX_RESULT = 64 * 1024;

type Became = ConstructorParameters<typeof EffectResultError>[2];

/**
 * A result as it is recorded.
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
 * The first part of a result that JSON would empty or replace without a word, and where it stands; `null` when there is none.
 * What says how it is written (`toJSON`, as a date does) is kept, and so are the properties of an instance; `undefined` is
 * nothing in JSON, as it is for whoever reads it.
 */
function lostInResult(value: unknown, path = 'result'): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${value} (at ${path})`;
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value} (at ${path})`;
  if (typeof value !== 'object' || value === null) return null;
  if ('toJSON' in value && typeof value.toJSON === 'function') return null;
  const parts = Object.entries(value);
  if (ArrayBuffer.isView(value) || (parts.length === 0 && !isPlain(value))) return `a ${nameOf(value)} (at ${path})`;
  for (const [key, part] of parts) {
    const lost = lostInResult(part, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    if (lost !== null) return lost;
  }
  return null;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function nameOf(value: object): string {
  return value.constructor.name || 'class instance';
}

/**
 * A result as every attempt gets it, also the one that brought it: a handler can't come to depend on more than that.
 * @param became what to say of a result that the schema doesn't take: it is about to be recorded, or was before
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

/** A schema that throws takes it no more than one that says so. */
async function validate<T>(schema: StandardSchema<T>, value: unknown) {
  try {
    return await schema['~standard'].validate(value);
  } catch (error) {
    return { issues: [{ message: String(error) }] };
  }
}
