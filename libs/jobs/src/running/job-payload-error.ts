import { FencepostError } from '@fencepost/lease';

export interface PayloadIssue {
  /** The path, such as `customer.email`; `payload` for all of it. */
  readonly field: string;
  readonly problem: string;
}

/** Enough to correct a payload: a list of a thousand items may have the same mistake a thousand times. */
const MAX_SHOWN = 5;

/** A payload is invalid for its job: which fields, and why. Every attempt would fail. */
export class JobPayloadError extends FencepostError {
  readonly code = 'JOB_PAYLOAD';

  constructor(
    readonly job: string,
    readonly issues: readonly PayloadIssue[],
  ) {
    const shown = issues.slice(0, MAX_SHOWN).map(({ field, problem }) => `${field}: ${problem}`);
    const more = issues.length > MAX_SHOWN ? `; and ${issues.length - MAX_SHOWN} more` : '';
    super(`Invalid payload for the job "${job}": ${shown.join('; ')}${more}.`);
  }
}
