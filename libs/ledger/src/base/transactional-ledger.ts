import { FencepostError } from '@fencepost/lease';
import type { SqlClient, SqlConnection, SqlPool } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import type { AttemptRef, Ledger, TriggerReply, TriggerRequest } from './ledger.js';

export interface TransactionRequest {
  /** Of the effect it is recorded as. */
  readonly name: string;
  readonly payloadHash?: string | null;
  /**
   * Keys of items, without duplicates: that they are done is recorded under the name, and no result. Of items of which some
   * are done already nothing is committed.
   */
  readonly items?: readonly string[];
  /** Of the same database, where the ledger's own is not the one to take a connection from. */
  readonly pool?: SqlPool;
}

export type TransactionReply =
  /** Committed, now or by an earlier call; `result` is its recorded JSON. */
  | { readonly verdict: 'done'; readonly result: string; readonly payloadHash: string | null }
  /** Another attempt is the current one, or some items were done already: everything was rolled back. */
  | { readonly verdict: 'stale' };

/** A ledger in the database of the user's own rows: what is written in one transaction is written once. */
export interface TransactionalLedger extends Ledger {
  /**
   * Lets `work` write its rows, and commits them together with the record that the effect is done, or not at all.
   *
   * The fence is compared before `work` begins, and again under a lock just before the commit. Where the connection is lost
   * at the commit, the ledger is asked what became of it: the outcome is known or this rejects, and is never guessed.
   * @param work gets the connection of the open transaction; returns the result as JSON. What it throws rolls all back.
   */
  transaction(
    attempt: AttemptRef,
    request: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply>;
  /** `trigger` on somebody's open transaction: the run is there if and only if that commits. */
  triggerIn(tx: SqlClient, request: TriggerRequest): Promise<TriggerReply>;
  /** Calls `onTriggered` with a run that `triggerIn` made, once its transaction has committed. A hint that may get lost. */
  watchTriggered(onTriggered: (runId: string) => void): Promise<StopWatching>;
  /** Crons with runs that were claimed and never confirmed, and that are due for a look: at most `limit`. */
  waitingCrons(limit: number): Promise<string[]>;
}

export function isTransactional(ledger: object): ledger is TransactionalLedger {
  return 'transaction' in ledger && 'triggerIn' in ledger;
}

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
