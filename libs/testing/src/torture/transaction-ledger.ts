import type { SqlConnection, SqlResult } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import type {
  AttemptRef,
  TriggerReply,
  TransactionalLedger,
  TransactionReply,
  TransactionRequest,
} from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';

/**
 * The memory ledger with transactions in which there is no database: rows and record commit together, as far as there are
 * rows. Each query answers that it found none.
 */
export class TransactionLedger extends MemoryLedger implements TransactionalLedger {
  async transaction(
    attempt: AttemptRef,
    { name, payloadHash = null }: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply> {
    const begun = await this.beginEffect(attempt, { name, payloadHash, ifUnknown: 'go' });
    if (begun.verdict === 'stale') return { verdict: 'stale' };
    if (begun.verdict === 'done') return { verdict: 'done', result: begun.result, payloadHash: begun.payloadHash };
    const result = await work(NO_DATABASE).catch(async (error: unknown) => {
      await this.finishEffect(attempt, name, { kind: 'failed', error: 'rolled back' });
      throw error;
    });
    const reply = await this.finishEffect(attempt, name, { kind: 'done', result });
    return reply === 'recorded' ? { verdict: 'done', result, payloadHash } : { verdict: 'stale' };
  }

  async triggerIn(): Promise<TriggerReply> {
    throw new Error('Expected no run to be asked for in a transaction: a torture has no database.');
  }

  async watchTriggered(): Promise<StopWatching> {
    return async () => undefined;
  }

  async waitingCrons(): Promise<string[]> {
    return [];
  }
}

const NO_DATABASE: SqlConnection = {
  query: async (): Promise<SqlResult> => ({ rows: [], rowCount: 0 }),
  on: () => undefined,
  release: () => undefined,
};
