import { FencepostError } from '@fencepost/lease';

/** A job for which a duplicate is damage, on a store that may lose what it acknowledged: the process refuses to start. */
export class ClassificationError extends FencepostError {
  readonly code = 'CLASSIFICATION';

  /** @param jobs each with class and method */
  constructor(
    readonly jobs: readonly string[],
    readonly found: readonly string[],
    lines: readonly string[],
  ) {
    super(
      `Expected a ledger that keeps what it has acknowledged, because of criticality "correctness" at ${jobs.join(', ')}. ` +
        `It may lose runs and records of effects, and what they did would be done again. Found: ${found.join(' ')} ` +
        `Change one of these lines: ${lines.join('; ')}.`,
    );
  }
}
