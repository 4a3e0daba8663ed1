import { FencepostError } from '@fencepost/lease';
import { FinalError } from './errors.js';

/** An invalid item key. The key is its identity in every later attempt, so it is checked and never corrected. */
export class ForEachKeyError extends FinalError {
  readonly code = 'FOR_EACH_KEY';

  constructor(name: string, key: unknown, expected: string) {
    super(`Expected ${expected} as the key of an item of "${name}", got ${JSON.stringify(key) ?? String(key)}.`);
  }
}

const SHOWN = 10;

/** Some items are not done. The next attempt executes only these. */
export class ForEachError extends FencepostError {
  readonly code = 'FOR_EACH_FAILED';

  /**
   * @param failed the keys of the items that are not done, in their order
   * @param options `cause` is the error of the first of them
   */
  constructor(
    readonly of: string,
    readonly failed: readonly string[],
    options: { readonly cause: unknown },
  ) {
    const shown = failed.slice(0, SHOWN).map((key) => JSON.stringify(key));
    const more = failed.length > SHOWN ? ` and ${failed.length - SHOWN} more` : '';
    const why = options.cause instanceof Error ? options.cause.message : String(options.cause);
    super(`${failed.length} items of "${of}" failed: ${shown.join(', ')}${more}. The first one: ${why}`, options);
  }
}
