import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import type { CronHandler } from './delivery.js';
import { FinalError } from './errors.js';

/** `concurrencyKey` returned no key, so the limits of the run are unknown and it doesn't begin. */
export class ConcurrencyKeyError extends FinalError {
  readonly code = 'CONCURRENCY_KEY';

  constructor(handler: string, got: string, cause?: unknown) {
    super(
      `Expected concurrencyKey of "${handler}" to return a non-empty string for the payload of the run, ` +
        `${got}. Correct it, then run it again with "fencepost retry".`,
      { cause },
    );
  }
}

/**
 * The hashed key of a run: the key may contain personal data, and is kept in the store.
 * @throws {ConcurrencyKeyError} when the function throws or returns no text
 * @throws what the payload check of the handler throws
 */
export async function concurrencyKeyOf(
  name: string,
  { limits, readPayload }: CronHandler,
  payload: unknown,
): Promise<string | null> {
  if (!limits?.key) return null;
  const read = readPayload ? await readPayload(payload) : payload;
  const key = checkedKey(name, limits.key, read);
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function checkedKey(name: string, key: (payload: unknown) => unknown, payload: unknown): string {
  let got: unknown;
  try {
    got = key(payload);
  } catch (error) {
    throw new ConcurrencyKeyError(name, `it threw ${String(error)}`, error);
  }
  if (typeof got === 'string' && got !== '') return got;
  // An unhandled rejection would end the process.
  if (got instanceof Promise) got.catch(() => {});
  throw new ConcurrencyKeyError(name, `got ${inspect(got, { depth: 0, maxStringLength: 100 })}`);
}
