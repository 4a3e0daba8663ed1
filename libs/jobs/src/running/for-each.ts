import type { ItemOutcome, ItemRecord } from '@fencepost/ledger';
import type { UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';
import type { EffectSession } from './effect-session.js';
import { ForEachError, ForEachKeyError } from './errors.js';
import { readForEachOptions, type ForEachCounts, type ForEachOptions } from './effect-options.js';
import type { ForEachSettings, ItemAct } from './effect-options.js';
import { ItemCall, type ItemEnd, type PendingItem } from './item-call.js';
import { isName, NAME_TEXT } from './effect-session.js';

interface ForEachWork<T> {
  readonly items: Items<T>;
  readonly keyOf: (item: T) => string;
  readonly act: ItemAct<T>;
  /** Called after a batch, at most once a second, and after the last one. */
  readonly progress: (value: object) => Promise<void>;
}

/** Progress is for display: more updates would cost as many calls as the items do. */
const PROGRESS_MS = 1_000;

/** Executes the items that are not done yet, and records them batch by batch. */
export async function runForEach<T>(
  session: EffectSession,
  work: ForEachWork<T>,
  options: ForEachOptions | undefined,
): Promise<ForEachCounts> {
  const name: unknown = options?.name ?? 'items';
  session.reserveNamespace(name);
  const settings = readForEachOptions(name, options, session.deps.criticality);
  return new ForEach(session, settings, work).execute();
}

class ForEach<T> {
  readonly #failed: { readonly key: string; readonly error: unknown }[] = [];
  /** Outcomes that are not recorded yet. */
  #finished: ItemOutcome[] = [];
  #done = 0;
  #unresolved: UnresolvedEffect | null = null;
  #toldAt = -Infinity;
  #isReported = true;

  constructor(
    private readonly session: EffectSession,
    private readonly settings: ForEachSettings,
    private readonly work: ForEachWork<T>,
  ) {}

  async execute(): Promise<ForEachCounts> {
    this.session.ready();
    const todo = new PendingItems(this.settings, { ...this.work, known: await this.#known() });
    try {
      for await (const batch of todo.batches()) await this.#executeBatch(batch, todo);
      if (!this.#isReported) await this.#reportProgress(todo);
    } catch (error) {
      // Outcomes are recorded even if the rest was stopped.
      await this.#advance([]).catch(() => {});
      throw error;
    }
    await this.#advance([]);
    const [lost] = todo.unresolved;
    if (lost) throw this.session.needOperator(this.#unresolvedEffect(lost.key, 'lost', lost.since));
    const failed = this.#failed.map(({ key }) => key);
    if (failed.length > 0) throw new ForEachError(this.settings.name, failed, { cause: this.#failed[0]?.error });
    return this.#counts(todo);
  }

  async #known(): Promise<Map<string, ItemRecord>> {
    const { ledger, attempt, lease } = this.session.deps;
    const { name } = this.settings;
    const records = await lease.retryWhileLeased('items.read', () => ledger.items(attempt.runId, name));
    return new Map(records.map((record) => [record.key, record]));
  }

  async #executeBatch(batch: readonly PendingItem<T>[], todo: PendingItems<T>): Promise<void> {
    const { name, concurrency } = this.settings;
    this.session.ready();
    this.session.emit('effect.beginning', name);
    await this.#advance(batch.map(({ key }) => key));
    const unknown = batch.some(({ orphaned: lost }) => lost !== null);
    this.session.deps.telemetry.emit('effect.begun', { ...this.session.about(name), unknown });
    const turn = batch.values();
    await Promise.all(Array.from({ length: concurrency }, () => this.#runInTurn(turn)));
    this.session.emit('effect.acted', name);
    this.#isReported = false;
    if (this.#unresolved || this.#isReportDue()) await this.#reportProgress(todo);
    if (this.#unresolved) throw this.session.needOperator(this.#unresolved);
    this.session.ready();
  }

  #isReportDue(): boolean {
    return this.session.deps.clock.monotonic() - this.#toldAt >= PROGRESS_MS;
  }

  async #reportProgress(todo: PendingItems<T>): Promise<void> {
    this.#isReported = true;
    this.#toldAt = this.session.deps.clock.monotonic();
    await this.work.progress({ name: this.settings.name, ...this.#counts(todo) });
  }

  async #runInTurn(turn: Iterable<PendingItem<T>>): Promise<void> {
    const deps = { session: this.session, settings: this.settings, act: this.work.act };
    for (const todo of turn) {
      if (this.#mayGoOn()) this.#note(todo.key, await new ItemCall(deps, todo).execute());
      else this.#leave(todo);
    }
  }

  #mayGoOn(): boolean {
    try {
      this.session.ready();
      return this.#unresolved === null;
    } catch {
      return false;
    }
  }

  /** It was begun with its batch and not called: recorded, so that it never needs an operator. */
  #leave({ key, orphaned: lost }: PendingItem<T>): void {
    if (lost === null) this.#finished.push({ key, kind: 'failed', error: 'it was not called' });
  }

  #note(key: string, end: ItemEnd): void {
    if (end.kind === 'needs-operator') {
      this.#unresolved ??= this.#unresolvedEffect(key, end.unknownReason, end.since);
      return;
    }
    if (end.kind === 'record') this.#finished.push(end.outcome);
    if (end.kind === 'record' && end.outcome.kind === 'done') this.#done += 1;
    else this.#failed.push({ key, error: end.error });
  }

  /** Records outcomes and begins the next items in one step: half the calls, and atomic. */
  async #advance(begun: readonly string[]): Promise<void> {
    const { ledger, attempt, lease } = this.session.deps;
    const { name } = this.settings;
    const finished = this.#finished;
    if (finished.length + begun.length === 0) return;
    const step = { finished, begun };
    const reply = await lease.retryWhileLeased('items.advance', () => ledger.advanceItems(attempt, name, step));
    this.#finished = [];
    if (reply === 'stale') throw this.session.stale(name);
    if (finished.length > 0) this.session.emit('effect.finished', name);
  }

  #unresolvedEffect(item: string, unknownReason: UnknownReason, since: number): UnresolvedEffect {
    return { effect: this.settings.name, item, unknownReason, since };
  }

  #counts({ skipped }: PendingItems<T>): ForEachCounts {
    return { done: this.#done, failed: this.#failed.length, skipped };
  }
}

type Items<T> = Iterable<T> | AsyncIterable<T>;

interface ItemSource<T> {
  readonly items: Items<T>;
  readonly keyOf: (item: T) => string;
  /** By key. */
  readonly known: ReadonlyMap<string, ItemRecord>;
}

/** Reads items one by one, and leaves out those that earlier attempts have done. */
class PendingItems<T> {
  /** Items that need an operator: the others go on. */
  readonly unresolved: ItemRecord[] = [];
  #skipped = 0;
  readonly #seen = new Set<string>();

  constructor(
    private readonly settings: ForEachSettings,
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
