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
