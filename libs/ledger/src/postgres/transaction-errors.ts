import { FencepostError } from '@fencepost/lease';

/** The connection was lost at the commit, and the ledger knows for certain that nothing was committed. */
export class TransactionLostError extends FencepostError {
  readonly code = 'TRANSACTION_LOST';

  constructor(
    readonly runId: string,
    readonly effect: string,
    options: ErrorOptions,
  ) {
    super(
      `Expected the transaction "${effect}" of ${runId} to commit, but its connection was lost first: nothing of it ` +
        `happened. Try it again.`,
      options,
    );
  }
}

/** The connection was lost at the commit, and the ledger could not be asked what became of it. */
export class TransactionUnknownError extends FencepostError {
  readonly code = 'TRANSACTION_UNKNOWN';

  constructor(
    readonly runId: string,
    readonly effect: string,
    options: ErrorOptions,
  ) {
    super(
      `Expected the transaction "${effect}" of ${runId} to commit, its connection was lost meanwhile, and PostgreSQL could ` +
        `not be asked whether it did. Try it again: it is carried out only if it did not happen.`,
      options,
    );
  }
}

const FAULT = {
  ended:
    'the callback has ended it itself. What it committed stays, and is recorded nowhere: leave COMMIT, ROLLBACK and BEGIN to ' +
    'the ledger, and throw to roll back',
  aborted:
    'a statement in it had failed and the callback went on: all of it was rolled back. Let the error through, or guard the ' +
    'statement with a SAVEPOINT',
  released: 'the callback has called release(): the connection is the ledger’s to give back',
};

/** The callback of a transaction has done what leaves the ledger nothing to commit. */
export class TransactionMisusedError extends FencepostError {
  readonly code = 'TRANSACTION_MISUSED';

  constructor(
    readonly runId: string,
    readonly effect: string,
    fault: keyof typeof FAULT,
  ) {
    super(`Expected the transaction "${effect}" of ${runId} to be open and sound at its end, but ${FAULT[fault]}.`);
  }
}
