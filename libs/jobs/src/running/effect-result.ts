import { EffectResultError } from './errors.js';
import { issuesText, type StandardSchema } from './payload-schema.js';
import { resultJson } from './result-json.js';

const MAX_RESULT = 64 * 1024;

type Became = ConstructorParameters<typeof EffectResultError>[2];

/**
 * Encodes a result for the ledger.
 * @throws {EffectResultError}
 */
export function encodeResult(effect: string, result: unknown, became?: Became): string {
  const encoded = resultJson(result ?? null, MAX_RESULT);
  if ('json' in encoded) return encoded.json;
  throw new EffectResultError(effect, encoded.why, became);
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
