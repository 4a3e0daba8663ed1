import type { ItemOutcome } from '@fencepost/ledger';
import type { UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';
import type { EffectSession } from './effect-session.js';
import { ForEachError } from './errors.js';
import { readForEachOptions, type ForEachCounts, type ForEachOptions } from './effect-options.js';
import type { ForEachSettings, ItemAct } from './effect-options.js';
import { ItemCall, type ItemEnd, type PendingItem } from './item-call.js';
import { PendingItems, readItems, type Items } from './pending-items.js';

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
    const todo = new PendingItems(this.settings, {
      ...this.work,
      known: await readItems(this.session, this.settings.name),
    });
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
