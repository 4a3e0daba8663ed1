import { FencepostError } from '@fencepost/lease';

/** The idempotency key was used before, with another payload: one of the two callers means another job. */
export class IdempotencyKeyError extends FencepostError {
  readonly code = 'IDEMPOTENCY_KEY';

  constructor(
    readonly job: string,
    readonly runId: string,
    readonly idempotencyKey: string,
  ) {
    super(
      `Expected the payload that the idempotency key ${JSON.stringify(idempotencyKey)} of the job "${job}" was used with ` +
        `before (run ${runId}), got another one. Nothing was enqueued: a key stands for one piece of work, so give other ` +
        `work another key.`,
    );
  }
}

/** The request arrived so late that the ledger can't tell it from a duplicate of one that has run already. */
export class LateRequestError extends FencepostError {
  readonly code = 'LATE_REQUEST';

  constructor(
    readonly job: string,
    readonly runId: string,
  ) {
    super(
      `The request for a run of "${job}" reached the ledger over ten minutes after it was made, or again after its run (${runId}) ` +
        `was over and forgotten. Nothing was enqueued by it: enqueue the job again, with an idempotencyKey if it must run once.`,
    );
  }
}
