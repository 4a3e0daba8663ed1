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

interface Settled {
  readonly verdict: 'go';
  readonly session: number;
  readonly transaction: string;
}

type SettleReply = TransactionReply | Settled | { readonly verdict: 'broken' };
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
    const { attempt, request } = this.order;
    // Before it is open: the callback may still choose an isolation level, and nothing is held while it works.
    const before = await askAgain(() =>
      this.#call<SettleReply>('prepare_transaction', [proofOf(attempt), request.name]),
    );
    this.#sound = true;
    if (before.verdict !== 'go') return this.#replyOf(before);
    this.#sound = false;
    await this.#send(`begin; set local fencepost.mark = '${this.#mark}'`);
    const result = await this.#orRollBack(() => work(this.#guarded()));
    const settled = await this.#orRollBack(() => this.#settle(result));
    if (settled.verdict === 'go') return this.#commit(result, settled);
    await this.#rollBack();
    return this.#replyOf(settled);
  }

  giveBack(): void {
    if (this.#given) return;
    this.#given = true;
    giveBack(this.connection, this.#sound);
  }

  async #settle(result: string): Promise<SettleReply> {
    const { attempt, request } = this.order;
    const outcome = { result, payloadHash: request.payloadHash ?? null };
    try {
      return await this.#call('settle_transaction', [proofOf(attempt), request.name, outcome, this.#mark]);
    } catch (error) {
      throw sqlState(error) === IN_FAILED_TRANSACTION ? this.#misused('aborted') : error;
    }
  }

  async #commit(result: string, settled: Settled): Promise<TransactionReply> {
    let committed: SqlResult;
    try {
      committed = await this.#send('commit');
    } catch (error) {
      if (!isRefusal(error)) return this.#recall(settled, error);
      await this.#rollBack();
      throw error;
    }
    this.#sound = true;
    // The server's word for the commit of a transaction in which a statement has failed.
    if (Reflect.get(committed, 'command') === 'ROLLBACK') throw this.#misused('aborted');
    return { verdict: 'done', result, payloadHash: this.order.request.payloadHash ?? null };
  }

  /** Nobody knows whether it was committed, except for the ledger: there the record is, or it can't come any more. */
  async #recall({ session, transaction }: Settled, cause: unknown): Promise<TransactionReply> {
    // First, because it may be the only one that its pool gives.
    this.giveBack();
    const { access } = this;
    const { attempt, request } = this.order;
    const args = [access.space, attempt.runId, request.name, session, transaction];
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

  #replyOf(reply: SettleReply): TransactionReply {
    if (reply.verdict === 'done' || reply.verdict === 'stale') return reply;
    throw this.#misused('ended');
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

  #call<T>(name: string, args: readonly unknown[]): Promise<T> {
    const { access } = this;
    return this.#inTime(access.callOn<T>(this.connection, name, [access.space, ...args]));
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
const BETWEEN_RECALLS_MS = 100;

/** Of errors that come from the server: those that don't say whether the transaction had ended before. */
const SAYS_NOTHING = /^(08|53|57|58|F0|XX|40003)/;

/** Whether the server itself has refused to commit: then nothing happened. A driver's own errors have no severity. */
function isRefusal(error: unknown): boolean {
  const severity = typeof error === 'object' && error !== null ? Reflect.get(error, 'severity') : undefined;
  return typeof severity === 'string' && !SAYS_NOTHING.test(sqlState(error) ?? 'XX');
}
