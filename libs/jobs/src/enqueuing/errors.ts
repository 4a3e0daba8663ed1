import { FencepostError } from '@fencepost/lease';
import type { Run } from '@fencepost/ledger/run';

/** The cron was changed after the caller had read it. */
export class CatalogMovedError extends FencepostError {
  readonly code = 'CATALOG_MOVED';

  /** @param found the generation the catalog has, `null` for none */
  constructor(
    readonly cron: string,
    readonly expected: number | null,
    readonly found: number | null,
  ) {
    super(
      `Expected ${shown(expected)} of the cron "${cron}", found ${shown(found)}: it was changed in the meantime, and ` +
        `nothing was changed. Review the current definition, then repeat the command.`,
    );
  }
}

function shown(generation: number | null): string {
  return generation === null ? 'no generation' : `generation ${generation}`;
}

/** The catalog has no cron of this name that could do what was asked. */
export class UnknownCronError extends FencepostError {
  readonly code = 'CRON_UNKNOWN';

  constructor(
    readonly cron: string,
    what: string,
  ) {
    super(what);
  }

  /** @param near names that the asked one may be a slip of */
  static of(cron: string, near: readonly string[]): UnknownCronError {
    const names = near.map((name) => `"${name}"`).join(', ');
    const hint = near.length > 0 ? ` Did you mean ${names}?` : '';
    return new UnknownCronError(cron, `Cron ${JSON.stringify(cron)} not found.${hint}`);
  }

  static unreadable(cron: string, reason: string): UnknownCronError {
    return new UnknownCronError(
      cron,
      `The catalog's record of the cron "${cron}" is invalid (${reason}), so it does not fire. Set it again, or remove it: ` +
        `a declared cron comes back with its next declaration.`,
    );
  }

  static removed(cron: string, by: string): UnknownCronError {
    return new UnknownCronError(
      cron,
      `The cron "${cron}" was removed (${by}), so no worker would execute its runs. Declare it or set it again first.`,
    );
  }
}

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

/** The request arrived so late that it may be a duplicate of one whose run has ended and expired. */
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

const UNSUCCESSFUL = { failed: 'RUN_FAILED', cancelled: 'RUN_CANCELLED', skipped: 'RUN_SKIPPED' } as const;

/** The run has ended without success, so it has no result. */
export class RunUnsuccessfulError extends FencepostError {
  readonly code: (typeof UNSUCCESSFUL)[keyof typeof UNSUCCESSFUL];
  readonly runId: string;

  constructor({ id, state, skipped, error, cancel }: Run) {
    const why = skipped ?? error ?? (cancel && `by ${cancel.by}`);
    super(
      `Run "${id}" has no result: it ${state === 'failed' ? 'failed' : `was ${state}`}${why === null ? '' : ` (${why})`}.`,
    );
    this.code = UNSUCCESSFUL[state as keyof typeof UNSUCCESSFUL];
    this.runId = id;
  }
}

/** The run has not ended within the time that its result was waited for. It goes on. */
export class ResultTimeoutError extends FencepostError {
  readonly code = 'RESULT_TIMEOUT';
  readonly runId: string;

  constructor({ id, state }: Run, timeoutMs: number) {
    const next = state === 'uncertain' ? 'It waits for an operator' : 'Raise the option timeout, or wait for it again';
    super(`Run "${id}" has not ended within ${timeoutMs} ms: it is ${state}. ${next}.`);
    this.runId = id;
  }
}

/** The ledger has no record of the run, so nobody can say what its result was. */
export class RunForgottenError extends FencepostError {
  readonly code = 'RUN_FORGOTTEN';

  constructor(readonly runId: string) {
    super(
      `The ledger has no record of run "${runId}": retention has deleted it, or the transaction in which it was enqueued has ` +
        `not committed.`,
    );
  }
}
