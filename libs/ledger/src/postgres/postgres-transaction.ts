import { randomUUID } from 'node:crypto';
import { sleep } from '@fencepost/lease/internal';
import type { SqlConnection, SqlResult } from '@fencepost/lease/postgres';
import type { AttemptRef } from '../base/ledger.js';
import {
  TransactionLostError,
  TransactionMisusedError,
  TransactionUnknownError,
} from '../base/transactional-ledger.js';
import type { TransactionReply, TransactionRequest } from '../base/transactional-ledger.js';
import { answerInTime, borrowConnection, ConnectionSilentError, giveBack } from './borrow-connection.js';
import { proofOf } from './postgres-attempt-codec.js';
import { askAgain, sqlState } from './postgres-failure.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';

type Work = (tx: SqlConnection) => Promise<string>;

interface Order {
  readonly attempt: AttemptRef;
  readonly request: TransactionRequest;
}

/** How the server knows the open transaction: its session, and when it began there. */
interface Begun {
  readonly verdict: 'go';
  readonly session: number;
  readonly since: string;
}

/** Why the server has not committed. */
type Refusal = TransactionReply | { readonly verdict: 'broken' };
type RecallReply = Extract<TransactionReply, { readonly verdict: 'done' }> | { readonly verdict: 'gone' };

/** How `transaction` of `TransactionalLedger` works. */
export async function transactionInPostgres(
  access: PostgresLedgerAccess,
  order: Order,
  work: Work,
): Promise<TransactionReply> {
  await access.ready('prepare_transaction');
  const pool = order.request.pool ?? access.transactions;
  const connection = await borrowConnection(pool, access);
  const transaction = new LedgerTransaction(access, order, connection);
  try {
    return await transaction.run(work);
  } finally {
    transaction.giveBack();
  }
}

/** One connection, from where it was taken out of its pool until it goes back. */
class LedgerTransaction {
  readonly #mark = randomUUID();
  /** Whether nothing is open on the connection. One that broke, or whose state is unknown, is closed and not used again. */
  #sound = false;
  #given = false;
  #silent = false;

  constructor(
    private readonly access: PostgresLedgerAccess,
    private readonly order: Order,
    private readonly connection: SqlConnection,
  ) {}

  async run(work: Work): Promise<TransactionReply> {
    const before = await askAgain(() => this.#orRollBack(() => this.#begin()));
    if (before.verdict !== 'go') {
      await this.#rollBack();
      return before;
    }
    const result = await this.#orRollBack(() => work(this.#guarded()));
    return this.#commit(result, before);
  }

  giveBack(): void {
    if (this.#given) return;
    this.#given = true;
    giveBack(this.connection, this.#sound);
  }

  /**
   * In one message: whether it may begin, and its beginning. The answer is committed before: the callback may still choose an
   * isolation level, and nothing is held while it works. That commit needn't reach the disk by itself, as nothing counts on
   * it but the transaction, whose commit comes after it in the same log.
   */
  async #begin(): Promise<Begun | TransactionReply> {
    this.#sound = false;
    const { attempt, request } = this.order;
    const asks = this.#statement('prepare_transaction', [proofOf(attempt), request.name]);
    const replies = await this.#send(
      `begin isolation level read committed; set local synchronous_commit = off; ${asks}; commit; ` +
        `begin; set local fencepost.mark = '${this.#mark}'`,
    );
    return replyAmong(replies);
  }

  /** In one message: the record of the effect, and the commit, which the server never gets to where that is refused. */
  async #commit(result: string, begun: Begun): Promise<TransactionReply> {
    const { attempt, request } = this.order;
    const payloadHash = request.payloadHash ?? null;
    const outcome = request.items ? { items: request.items } : { result, payloadHash };
    const settles = this.#statement('settle_transaction', [proofOf(attempt), request.name, outcome, this.#mark]);
    try {
      await this.#send(`${settles}; commit`);
    } catch (error) {
      if (!isRefusal(error)) return this.#recall(begun, error);
      await this.#rollBack();
      return this.#replyOf(error);
    }
    this.#sound = true;
    return { verdict: 'done', result, payloadHash };
  }

  /** Nobody knows whether it was committed, except for the ledger: there the record is, or it can't come any more. */
  async #recall({ session, since }: Begun, cause: unknown): Promise<TransactionReply> {
    // First, because it may be the only one that its pool gives.
    this.giveBack();
    const { access } = this;
    const { attempt, request } = this.order;
    const args = [access.space, proofOf(attempt), request.name, request.items ?? null, session, since];
    const ask = () => access.askInTime<RecallReply>('recall_transaction', args);
    const deadline = access.clock.monotonic() + access.patienceMs;
    for (;;) {
      try {
        // Above READ COMMITTED the statement that waits for the end doesn't see what that has brought; the next one does.
        const first = await ask();
        const reply = first.verdict === 'gone' ? await ask() : first;
        if (reply.verdict === 'done') return reply;
        throw new TransactionLostError(attempt.runId, request.name, { cause });
      } catch (error) {
        if (error instanceof TransactionLostError) throw error;
        if (access.clock.monotonic() >= deadline) {
          throw new TransactionUnknownError(attempt.runId, request.name, { cause: error });
        }
        await sleep(access.clock, BETWEEN_RECALLS_MS);
      }
    }
  }

  async #orRollBack<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await this.#rollBack();
      throw error;
    }
  }

  /** A connection that can't even do that has broken, and what was open on it ends with it. */
  async #rollBack(): Promise<void> {
    try {
      // Behind a statement that is not answered it would wait as long again.
      if (!this.#silent) await this.#send('rollback');
      this.#sound = !this.#silent;
    } catch {
      this.#sound = false;
    }
  }

  #replyOf(error: unknown): TransactionReply {
    const state = sqlState(error);
    if (state === IN_FAILED_TRANSACTION) throw this.#misused('aborted');
    if (state !== MUST_NOT_COMMIT) throw error;
    const refusal = JSON.parse(Reflect.get(error as object, 'detail') as string) as Refusal;
    if (refusal.verdict === 'broken') throw this.#misused('ended');
    return refusal;
  }

  #misused(fault: ConstructorParameters<typeof TransactionMisusedError>[2]): TransactionMisusedError {
    return new TransactionMisusedError(this.order.attempt.runId, this.order.request.name, fault);
  }

  /** The connection without its `release`: given back in the middle, it would be somebody else's with our rows on it. */
  #guarded(): SqlConnection {
    const release = () => {
      throw this.#misused('released');
    };
    return new Proxy(this.connection, {
      get: (target, name) => (name === 'release' ? release : Reflect.get(target, name)),
    });
  }

  #statement(name: string, args: readonly unknown[]): string {
    return this.access.statementOf(name, [this.access.space, ...args]);
  }

  #send(text: string): Promise<SqlResult> {
    return this.#inTime(this.connection.query({ text }));
  }

  /**
   * The callback may take as long as it wants, so that its connections have no limit of their own; what the ledger itself says
   * on them takes no time. A server that is gone without a word would keep the handler, and the end of the process, for ever.
   */
  async #inTime<T>(statement: Promise<T>): Promise<T> {
    try {
      return await answerInTime(statement, this.access);
    } catch (error) {
      this.#silent ||= error instanceof ConnectionSilentError;
      throw error;
    }
  }
}

const IN_FAILED_TRANSACTION = '25P02';
/** Of settle_transaction. */
const MUST_NOT_COMMIT = 'FP001';
const BETWEEN_RECALLS_MS = 100;

/** Of errors that come from the server: those that don't say whether the transaction had ended before. */
const SAYS_NOTHING = /^(08|53|57|58|F0|XX|40003)/;

/** Of a message of several statements `pg` makes a list, whatever the type says: the reply of the one that has one. */
function replyAmong(results: SqlResult | readonly SqlResult[]): Begun | TransactionReply {
  const rows = [results].flat().flatMap((result) => result.rows);
  return JSON.parse((rows[0] as { readonly reply: string }).reply) as Begun | TransactionReply;
}

/** Whether the server itself has refused to commit: then nothing happened. A driver's own errors have no severity. */
function isRefusal(error: unknown): boolean {
  const severity = typeof error === 'object' && error !== null ? Reflect.get(error, 'severity') : undefined;
  return typeof severity === 'string' && !SAYS_NOTHING.test(sqlState(error) ?? 'XX');
}
