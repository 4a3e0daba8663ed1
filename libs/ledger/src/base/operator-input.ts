import { inspect } from 'node:util';
import { FencepostError } from '@fencepost/lease';

/** What an operator asked for can't be: which word of it, what was expected, what came. */
export class OperatorInputError extends FencepostError {
  readonly code = 'OPERATOR_INPUT';

  /** One sentence: which word, what was expected, what came. */
  static of(what: string, expected: string, got: unknown): OperatorInputError {
    const shown = inspect(got, { depth: 1, breakLength: Infinity, maxStringLength: 100, maxArrayLength: 10 });
    return new OperatorInputError(`Expected ${what} to be ${expected}, got ${shown}.`);
  }
}
