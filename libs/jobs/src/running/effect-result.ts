import { EffectResultError } from './errors.js';
import { issuesText, type StandardSchema } from './standard-schema.js';

const LARGEST_RESULT = 64 * 1024;

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
  if (json === undefined) throw new EffectResultError(effect, 'it is no data', became);
  if (Buffer.byteLength(json) > LARGEST_RESULT) {
    throw new EffectResultError(effect, 'it is larger than 64 KiB', became);
  }
  return json;
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
