import type { SqlClient, SqlResult } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import type { TriggerReply, TriggerRequest, TransactionalLedger, TransactionReply } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';

/** A transaction that remembers what is to be done when it commits. */
export class MemoryTransaction implements SqlClient {
  readonly #work: (() => Promise<void>)[] = [];

  async query(): Promise<SqlResult> {
    return { rows: [], rowCount: null };
  }

  later(work: () => Promise<void>): void {
    this.#work.push(work);
  }

  async commit(): Promise<void> {
    for (const work of this.#work.splice(0)) await work();
  }

  rollback(): void {
    this.#work.length = 0;
  }
}

/** The memory ledger with an outbox: enough of a transaction to see what is done before a commit, and what after it. */
export class TransactionalMemory extends MemoryLedger implements TransactionalLedger {
  /** Hints are lost as long as this says so. */
  deaf = false;
  readonly #listeners = new Set<(runId: string) => void>();
  readonly #triggered = new Set<string>();

  transaction(): Promise<TransactionReply> {
    throw new Error('Expected no transaction of an effect.');
  }

  async triggerIn(tx: SqlClient, request: TriggerRequest): Promise<TriggerReply> {
    if (!(tx instanceof MemoryTransaction)) throw new Error('Expected a transaction of this ledger.');
    const run = await this.readRun(request.runId);
    if (run) return { verdict: 'exists', state: run.state };
    tx.later(async () => {
      await this.trigger(request);
      this.#triggered.add(request.runId);
      if (!this.deaf) for (const tell of this.#listeners) tell(request.runId);
    });
    return { verdict: 'claimed', runId: request.runId };
  }

  async watchTriggered(onTriggered: (runId: string) => void): Promise<StopWatching> {
    this.#listeners.add(onTriggered);
    return async () => void this.#listeners.delete(onTriggered);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async waitingCrons(limit: number): Promise<string[]> {
    const runs = await Promise.all([...this.#triggered].map((runId) => this.readRun(runId)));
    const waiting = runs.flatMap((run) => (run?.state === 'claimed' ? [run.cron] : []));
    return [...new Set(waiting)].slice(0, limit);
  }
}
