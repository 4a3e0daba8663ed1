import { FencepostError } from '@fencepost/lease';

export interface PayloadIssue {
  /** The keys that lead there, `customer.email`; `payload` for all of it. */
  readonly field: string;
  readonly problem: string;
}

/** Enough to mend a payload by; a list of a thousand items has the same mistake a thousand times. */
const MAX_SHOWN = 5;

/** A payload is not what its job expects: which fields, and why. It is so in every attempt. */
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
