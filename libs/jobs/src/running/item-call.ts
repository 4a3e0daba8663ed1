import type { ItemOutcome, ItemRecord } from '@fencepost/ledger';
import type { UnknownReason } from '@fencepost/ledger/run';
import { callEffect, lookUp, type EffectCallOptions } from './call-effect.js';
import type { Lookup, ForEachSettings, ItemAct } from './effect-options.js';
import { describeError } from '../telemetry/report-failure.js';
import type { EffectSession } from './effect-session.js';
import { afterIndeterminate } from './effect-options.js';

/** An item that is not done, and what an earlier attempt recorded of it. */
export interface PendingItem<T> {
  readonly key: string;
  readonly item: T;
  /** Set if that attempt began it and recorded no outcome. */
  readonly orphaned: ItemRecord | null;
}

/** How an item ended: recorded, left open for the next attempt, or in need of an operator. */
export type ItemEnd =
  | { readonly kind: 'record'; readonly outcome: ItemOutcome; readonly error: unknown }
  | { readonly kind: 'open'; readonly error: unknown }
  | { readonly kind: 'needs-operator'; readonly unknownReason: UnknownReason; readonly since: number };

interface Indeterminate {
  readonly lookup: Lookup<unknown>;
  readonly since: number;
  readonly ageMs: number;
  readonly unknownReason: UnknownReason;
  readonly notDone: () => ItemEnd | Promise<ItemEnd>;
}

interface ItemCallDeps<T> {
  readonly session: EffectSession;
  readonly settings: ForEachSettings;
  readonly act: ItemAct<T>;
}

/** One item in one attempt, from when it is recorded as begun. */
export class ItemCall<T> {
  constructor(
    private readonly deps: ItemCallDeps<T>,
    private readonly todo: PendingItem<T>,
  ) {}

  /** Never rejects. */
  async execute(): Promise<ItemEnd> {
    const { orphaned } = this.todo;
    const { ifUnknown } = this.deps.settings;
    if (orphaned === null || typeof ifUnknown !== 'function') return this.#act();
    const ageMs = Math.max(0, this.deps.session.deps.clock.now() - orphaned.since);
    const { since } = orphaned;
    return this.#lookUp({ lookup: ifUnknown, since, ageMs, unknownReason: 'lost', notDone: () => this.#actNow() });
  }

  /** The lookup may have outlasted the attempt: another attempt may be executing the item by now. */
  #actNow(): Promise<ItemEnd> {
    this.deps.session.ready();
    return this.#act();
  }

  async #act(): Promise<ItemEnd> {
    const { session, settings, act } = this.deps;
    const { key, item, orphaned } = this.todo;
    const since = orphaned?.since ?? session.deps.clock.now();
    const unresolved = { effect: settings.name, item: key, unknownReason: 'timeout', since } as const;
    const withdraw = settings.ifUnknown === 'ask' ? session.noteOpen(unresolved) : null;
    const ended = await callEffect((context) => act(item, context), {
      ...this.#options(),
      traced: session.traced(settings.name),
      onLate: () => void this.#late(),
    });
    withdraw?.();
    switch (ended.kind) {
      case 'returned':
        return done(key);
      case 'failed':
        // The failure of this call says nothing about the earlier one.
        if (orphaned !== null && settings.ifUnknown === 'retry') return { kind: 'open', error: ended.error };
        return failed(key, ended.error);
      case 'silent':
        return this.#indeterminate(ended.error, since);
    }
  }

  async #indeterminate(error: unknown, since: number): Promise<ItemEnd> {
    const { session, settings } = this.deps;
    session.failed('effect.unknown', { effect: settings.name, item: this.todo.key }, error);
    const next = afterIndeterminate(settings);
    if (next.step === 'ask') return { kind: 'needs-operator', unknownReason: next.unknownReason, since };
    if (next.step === 'again' || session.deps.end.over) return { kind: 'open', error };
    const ageMs = Math.max(0, session.deps.clock.now() - since);
    const notDone = () => failed(this.todo.key, error);
    return this.#lookUp({ lookup: next.lookup, since, ageMs, unknownReason: 'timeout', notDone });
  }

  async #lookUp({ lookup, since, ageMs, unknownReason, notDone }: Indeterminate): Promise<ItemEnd> {
    try {
      const answer = await lookUp(lookup, { ...this.#options(), since, ageMs });
      if (answer === 'unknown') return { kind: 'needs-operator', unknownReason, since };
      return answer === 'not-done' ? await notDone() : done(this.todo.key);
    } catch (error) {
      return { kind: 'open', error };
    }
  }

  /** A result that arrives after the timeout is recorded, even if the attempt is over. */
  async #late(): Promise<void> {
    const { settings, session } = this.deps;
    const { ledger, attempt, lease } = session.deps;
    const { key } = this.todo;
    const step = { finished: [{ key, kind: 'done' }], begun: [] } as const;
    try {
      await lease.retryWhileLeased('items.advance', () => ledger.advanceItems(attempt, settings.name, step));
      session.emit('effect.late', settings.name);
    } catch (error) {
      session.failed('effect.unrecorded', { effect: settings.name, item: key }, error);
    }
  }

  #options(): EffectCallOptions<unknown> {
    const { session, settings } = this.deps;
    const { attempt, clock, end } = session.deps;
    const of = `${settings.name}/${this.todo.key}`;
    const idempotencyKey = `${attempt.runId}/${of}`;
    return { name: of, idempotencyKey, fence: attempt.fence, clock, end, timeoutMs: settings.timeoutMs };
  }
}

function done(key: string): ItemEnd {
  return { kind: 'record', outcome: { key, kind: 'done' }, error: null };
}

function failed(key: string, error: unknown): ItemEnd {
  return { kind: 'record', outcome: { key, kind: 'failed', error: describeError(error) }, error };
}
