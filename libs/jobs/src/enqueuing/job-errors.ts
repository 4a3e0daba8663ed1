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
      `The idempotency key ${JSON.stringify(idempotencyKey)} of the job "${job}" was used with a different payload ` +
        `before (run ${runId}). Nothing was enqueued: a key identifies one piece of work, so use ` +
        `a different key for different work.`,
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
        `had ended and expired. Nothing was enqueued: enqueue the job again, with an idempotencyKey if it must run only once.`,
    );
  }
}
