import type { ItemRecord } from '@fencepost/ledger';
import type { ForEachSettings } from './effect-options.js';
import { isName, NAME_TEXT, type EffectSession } from './effect-session.js';
import { ForEachKeyError } from './errors.js';
import type { PendingItem } from './item-call.js';

/** What earlier attempts recorded under a name, by key. */
export async function readItems({ deps }: EffectSession, name: string): Promise<Map<string, ItemRecord>> {
  const { ledger, attempt, lease } = deps;
  const records = await lease.retryWhileLeased('items.read', () => ledger.items(attempt.runId, name));
  return new Map(records.map((record) => [record.key, record]));
}

/** Read one by one, so there may be more than fit in memory. */
export type Items<T> = Iterable<T> | AsyncIterable<T>;

interface ItemSource<T> {
  readonly items: Items<T>;
  readonly keyOf: (item: T) => string;
  /** By key. */
  readonly known: ReadonlyMap<string, ItemRecord>;
}

/** Reads items one by one, and leaves out those that earlier attempts have done. */
export class PendingItems<T> {
  /** Items that need an operator: the others go on. */
  readonly unresolved: ItemRecord[] = [];
  #skipped = 0;
  readonly #seen = new Set<string>();

  constructor(
    private readonly settings: Pick<ForEachSettings, 'name' | 'batchSize' | 'ifUnknown'>,
    private readonly source: ItemSource<T>,
  ) {}

  get skipped(): number {
    return this.#skipped;
  }

  /** @throws {ForEachKeyError} at an invalid key, or one that another item has */
  async *batches(): AsyncGenerator<readonly PendingItem<T>[]> {
    let batch: PendingItem<T>[] = [];
    for await (const item of this.source.items) {
      const todo = this.#look(item);
      if (todo) batch.push(todo);
      if (batch.length < this.settings.batchSize) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  #look(item: T): PendingItem<T> | null {
    const key = this.#keyOf(item);
    const record = this.source.known.get(key);
    if (record?.state === 'done') this.#skipped += 1;
    if (record?.state === 'done') return null;
    const orphaned = record?.state === 'begun' ? record : null;
    if (orphaned === null || this.settings.ifUnknown !== 'ask') return { key, item, orphaned };
    this.unresolved.push(orphaned);
    return null;
  }

  #keyOf(item: T): string {
    const { name } = this.settings;
    const key: unknown = this.source.keyOf(item);
    if (!isName(key)) throw new ForEachKeyError(name, key, NAME_TEXT);
    if (this.#seen.has(key)) throw new ForEachKeyError(name, key, 'a key that no other item has');
    this.#seen.add(key);
    return key;
  }
}
