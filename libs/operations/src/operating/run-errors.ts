import { FencepostError } from '@fencepost/lease';

/** The ledger has no run of this id, or not any more. */
export class UnknownRunError extends FencepostError {
  readonly code = 'RUN_UNKNOWN';

  constructor(readonly runId: string) {
    super(
      `Expected the id of a run that the ledger has, got ${JSON.stringify(runId)}: there was none of that id, or it is ` +
        `forgotten. Look for it in the list of runs of its cron.`,
    );
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
