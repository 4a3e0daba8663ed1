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
 * The first part of a result that JSON would silently empty or replace, and its path; `null` if there is none. Values with
 * `toJSON`, such as dates, and properties of instances are fine; `undefined` counts as absent, as it does for the reader of
 * JSON.
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
