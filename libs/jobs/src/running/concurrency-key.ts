import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import type { CronHandler } from './delivery.js';
import { FinalError } from './errors.js';

/** A `concurrencyKey` that gives no key: nobody knows what the run may go on beside, so it doesn't begin. */
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
 * The key of a run, hashed: it may be anybody's name, and stands in the store for as long as that lives.
 * @throws {ConcurrencyKeyError} when the function throws or returns no text
 * @throws what the handler throws that checks its payload
 */
export async function concurrencyKeyOf(
  name: string,
  { limits, readPayload }: CronHandler,
  payload: unknown,
): Promise<string | null> {
  if (!limits?.key) return null;
  const read = readPayload ? await readPayload(payload) : payload;
  const key = asked(name, limits.key, read);
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function asked(name: string, key: (payload: unknown) => unknown, payload: unknown): string {
  let got: unknown;
  try {
    got = key(payload);
  } catch (error) {
    throw new ConcurrencyKeyError(name, `it threw ${String(error)}`, error);
  }
  if (typeof got === 'string' && got !== '') return got;
  // Nobody else would hear of its rejection, and that would end the process.
  if (got instanceof Promise) got.catch(() => {});
  throw new ConcurrencyKeyError(name, `got ${inspect(got, { depth: 0, maxStringLength: 100 })}`);
}
