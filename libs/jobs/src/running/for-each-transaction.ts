import type { SqlConnection, SqlPool } from '@fencepost/lease/postgres';
import { StaleFenceError } from '@fencepost/lease';
import { isTransactional, type TransactionalLedger } from '@fencepost/ledger';
import { EffectOptionParser, MAX_ITEMS, type ForEachCounts } from './effect-options.js';
import type { EffectSession } from './effect-session.js';
import { ForEachError, TransactionUnavailableError } from './errors.js';
import type { PendingItem } from './item-call.js';
import { PendingItems, readItems, type Items } from './pending-items.js';
import { isPool } from './transaction.js';

export interface ForEachTransactionOptions<T> {
  /** The identity of an item in every attempt: a text of 1 to 200 characters, unique among all items. */
  readonly keyOf: (item: T) => string;
  /** The name under which its items are recorded, default `'items'`; unique in a run. */
  readonly name?: string;
  /** How many items share a transaction, from 1 to 1,000, default 100: they commit together, or none of them does. */
  readonly batchSize?: number;
  /** A pool of the ledger's database; default the ledger's own. */
  readonly pool?: SqlPool;
}

export type BatchWork<T> = (tx: SqlConnection, items: readonly T[]) => unknown;

interface Work<T> {
  readonly items: Items<T>;
  readonly act: BatchWork<T>;
  readonly progress: (value: object) => Promise<void>;
}

interface Settings<T> {
  readonly name: string;
  readonly keyOf: (item: T) => string;
  readonly batchSize: number;
  readonly pool?: SqlPool;
}

/** Commits the items that are not done yet, batch by batch, each with the record that its items are done. */
export async function runForEachTransaction<T>(
  session: EffectSession,
  work: Work<T>,
  options: ForEachTransactionOptions<T>,
): Promise<ForEachCounts> {
  const name: unknown = options?.name ?? 'items';
  session.reserveNamespace(name);
  const settings = readSettings<T>(name, options);
  const { ledger } = session.deps;
  if (!isTransactional(ledger)) throw new TransactionUnavailableError(name);
  return new Batches<T>(session, ledger, settings).execute(work);
}

class Batches<T> {
  readonly #failed: { readonly keys: readonly string[]; readonly error: unknown }[] = [];
  #done = 0;

  constructor(
    private readonly session: EffectSession,
    private readonly ledger: TransactionalLedger,
    private readonly settings: Settings<T>,
  ) {}

  async execute({ items, act, progress }: Work<T>): Promise<ForEachCounts> {
    const { session } = this;
    const { name, batchSize, keyOf } = this.settings;
    session.ready();
    // An item that is begun and not done was one of `run.forEach`, whose outcome nobody knows.
    const rules = { name, batchSize, ifUnknown: 'ask' } as const;
    const todo = new PendingItems(rules, { items, keyOf, known: await readItems(session, name) });
    for await (const batch of todo.batches()) {
      session.ready();
      await this.#attempt(batch, act);
      await progress({ name, ...this.#counts(todo.skipped) });
    }
    const [lost] = todo.unresolved;
    if (lost) {
      throw session.needOperator({ effect: name, item: lost.key, unknownReason: 'lost', since: lost.since });
    }
    const [first] = this.#failed;
    if (first) throw new ForEachError(name, this.#failedKeys(), { cause: first.error });
    return this.#counts(todo.skipped);
  }

  /** A batch that fails leaves nothing behind, and the others go on. */
  async #attempt(batch: readonly PendingItem<T>[], act: BatchWork<T>): Promise<void> {
    try {
      await this.#commit(batch, act);
      this.#done += batch.length;
    } catch (error) {
      if (error instanceof StaleFenceError) throw error;
      this.#failed.push({ keys: batch.map(({ key }) => key), error });
    }
  }

  async #commit(batch: readonly PendingItem<T>[], act: BatchWork<T>): Promise<void> {
    const { session } = this;
    const { name, pool } = this.settings;
    const request = { name, items: batch.map(({ key }) => key), ...(pool ? { pool } : {}) };
    session.emit('effect.beginning', name);
    const reply = await this.ledger.transaction(session.deps.attempt, request, async (tx) => {
      session.deps.telemetry.emit('effect.begun', { ...session.about(name), unknown: false });
      const items = batch.map(({ item }) => item);
      await act(tx, items);
      session.emit('effect.acted', name);
      return 'null';
    });
    if (reply.verdict === 'stale') throw session.stale(name);
    session.emit('effect.finished', name);
  }

  #failedKeys(): string[] {
    return this.#failed.flatMap(({ keys }) => keys);
  }

  #counts(skipped: number): ForEachCounts {
    return { done: this.#done, failed: this.#failedKeys().length, skipped };
  }
}

const USUAL_BATCH = 100;

function readSettings<T>(name: string, given: unknown): Settings<T> {
  const known = ['keyOf', 'name', 'batchSize', 'pool'];
  const parser = new EffectOptionParser(`the items "${name}"`, { given, known });
  const keyOf = parser.read('keyOf', 'a function', { fits: isKeyOf, otherwise: null });
  if (keyOf === null) throw parser.refusal('keyOf', 'a function', undefined);
  const pool = parser.read<SqlPool | null>('pool', 'a pool of pg', { fits: isPool, otherwise: null });
  return { name, keyOf, batchSize: parser.whole('batchSize', USUAL_BATCH, MAX_ITEMS), ...(pool ? { pool } : {}) };
}

function isKeyOf(value: unknown): value is (item: unknown) => string {
  return typeof value === 'function';
}
