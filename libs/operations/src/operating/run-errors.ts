import { FencepostError } from '@fencepost/lease';

/** The ledger has no run of this id, or not any more. */
export class UnknownRunError extends FencepostError {
  readonly code = 'RUN_UNKNOWN';

  constructor(readonly runId: string) {
    super(`Run ${JSON.stringify(runId)} not found: it never existed, or its record has expired.`);
  }
}

/** What was asked for can't be done to a run as it is now; nothing was changed. */
export class RunStateError extends FencepostError {
  readonly code = 'RUN_STATE';

  constructor(
    readonly runId: string,
    what: string,
  ) {
    super(what);
  }
}
