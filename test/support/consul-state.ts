import { randomUUID } from 'node:crypto';

interface Entry {
  readonly value: string;
  readonly session: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly lockIndex: number;
}

interface Session {
  readonly ttlMs: number;
  readonly behavior: 'release' | 'delete';
  readonly lockDelayMs: number;
  readonly checks: readonly string[];
  /** Until when it is not invalidated. */
  readonly lastsUntil: number;
}

export interface NewSession {
  readonly TTL?: string;
  readonly LockDelay?: string;
  readonly Behavior?: string;
  readonly NodeChecks?: readonly string[];
}

export interface Operation {
  readonly Verb: string;
  readonly Key: string;
  readonly Value?: string;
  readonly Index?: number;
  readonly Session?: string;
}

interface Snapshot {
  readonly index: number;
  readonly entries: ReadonlyMap<string, Entry>;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly removed: ReadonlyMap<string, number>;
}

const MIN_TTL_MS = 10_000;
const MAX_TTL_MS = 86_400_000;

/** What a transaction answers in `Results`: KV entries as API/kv › Read Key › Metadata Response shows them. */
export type Shown = Readonly<Record<string, string | number | null>>;

/**
 * What a Consul knows, as far as leases need it, made from its documentation: each behaviour cites the page and section
 * it was read on. A double, not a proof: the contract suite runs against a server where CONSUL_HTTP_ADDR is set.
 *
 * API is https://developer.hashicorp.com/consul/api-docs, so that `API/session` is .../api-docs/session; SESSIONS is
 * https://developer.hashicorp.com/consul/docs/automate/session.
 */
export class ConsulState {
  #index = 0;
  #entries = new Map<string, Entry>();
  #sessions = new Map<string, Session>();
  /** When keys below a prefix were removed. */
  #removed = new Map<string, number>();
  readonly #delayed = new Map<string, number>();
  /** Of the transaction that is being applied. */
  #undo: (() => unknown)[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /**
   * API/session › Create Session: a TTL is between 10s and 86400s, `LockDelay` is 15s and `Behavior` is `release` by default.
   * SESSIONS › Session Design: "By default, the gossip based failure detector is used as the associated health check."
   * @returns the id, `undefined` for a TTL out of bounds
   */
  createSession(asked: NewSession): string | undefined {
    const ttlMs = milliseconds(asked.TTL ?? '0s');
    if (ttlMs < MIN_TTL_MS || ttlMs > MAX_TTL_MS) return undefined;
    const id = randomUUID();
    const behavior = asked.Behavior === 'delete' ? 'delete' : 'release';
    const lockDelayMs = milliseconds(asked.LockDelay ?? '15s');
    const checks = asked.NodeChecks ?? ['serfHealth'];
    this.#index += 1;
    this.#sessions.set(id, { ttlMs, behavior, lockDelayMs, checks, lastsUntil: this.#now() + ttlMs });
    return id;
  }

  /** API/session › Renew Session: "extends the expiration by the TTL". */
  renewSession(id: string): boolean {
    const session = this.#sessions.get(id);
    if (session) this.#sessions.set(id, { ...session, lastsUntil: this.#now() + session.ttlMs });
    return session !== undefined;
  }

  /** SESSIONS › Session Design: a session is invalidated when any of its health checks goes to the critical state. */
  nodeSeemsDown(): void {
    for (const [id, { checks }] of this.#sessions) if (checks.length > 0) this.invalidate(id);
  }

  /** SESSIONS › Session Design: a session is invalidated when its TTL expires, which is a lower bound. */
  expire(): void {
    for (const [id, { lastsUntil }] of this.#sessions) if (lastsUntil <= this.#now()) this.invalidate(id);
  }

  /**
   * SESSIONS › Session Design: an invalidated session is destroyed; with `release`, its locks are released and the
   * `ModifyIndex` of the key is incremented, with `delete` the key is deleted. "Consul prevents any of the previously held
   * locks from being re-acquired for the lock-delay interval".
   */
  invalidate(id: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    this.#index += 1;
    for (const [key, entry] of this.#entries) {
      if (entry.session !== id) continue;
      if (session.behavior === 'delete') this.#remove(key);
      else this.#entries.set(key, { ...entry, session: '', modifyIndex: this.#index });
      this.#delayed.set(key, this.#now() + session.lockDelayMs);
    }
  }

  /**
   * API/txn › Create Transaction: "If any operation fails, the transaction is rolled back and none of the changes are applied."
   * @returns the results, or the place of the operation that failed
   */
  transact(operations: readonly Operation[]): Shown[] | { readonly failed: number } {
    const results: Shown[] = [];
    this.#index += 1;
    this.#undo = [];
    for (const [n, operation] of operations.entries()) {
      const shown = this.#apply(operation);
      if (shown === 'failed') return this.#rollBack(n);
      results.push(...shown);
    }
    return results;
  }

  #rollBack(failed: number): { readonly failed: number } {
    for (const undo of this.#undo.toReversed()) undo();
    return { failed };
  }

  /** API/kv › Read Key with `recurse`: the index is the latest `ModifyIndex` within the prefix, also of what was deleted. */
  below(prefix: string): { readonly index: number; readonly shown: Shown[] } {
    const shown = this.#tree(prefix);
    const removed = [...this.#removed].filter(([key]) => key.startsWith(prefix)).map(([, index]) => index);
    const index = Math.max(...shown.map(({ ModifyIndex }) => Number(ModifyIndex)), ...removed, 0);
    // API/features/blocking › Implementation Details: the index should always be greater than zero.
    return { index: index || Math.max(1, this.#index), shown };
  }

  snapshot(): Snapshot {
    const [entries, sessions, removed] = [new Map(this.#entries), new Map(this.#sessions), new Map(this.#removed)];
    return { index: this.#index, entries, sessions, removed };
  }

  /** API/features/blocking › Implementation Details: indexes go back when a snapshot with older data is restored. */
  restore({ index, entries, sessions, removed }: Snapshot): void {
    this.#index = index;
    [this.#entries, this.#sessions, this.#removed] = [new Map(entries), new Map(sessions), new Map(removed)];
  }

  /** API/txn › KV Operations, a row of the table each; other verbs are not needed. */
  #apply({ Verb, Key, Value = '', Index = 0, Session = '' }: Operation): Shown[] | 'failed' {
    const entry = this.#entries.get(Key);
    const verbs: Readonly<Record<string, () => Shown[] | 'failed'>> = {
      set: () => this.#put(Key, { value: Value }),
      // API/kv › Create/Update Key, `cas`: 0 only puts a key that doesn't exist, else the index has to match.
      cas: () => ((entry?.modifyIndex ?? 0) === Index ? this.#put(Key, { value: Value }) : 'failed'),
      lock: () => (this.#canLock(Key, Session) ? this.#lock(Key, Session, Value) : 'failed'),
      // API/kv › Create/Update Key, `release`: "The key must be held by this session to be unlocked."
      unlock: () => (holds(entry, Session) ? this.#put(Key, { value: Value, session: '' }) : 'failed'),
      'check-session': () => (holds(entry, Session) ? [] : 'failed'),
      delete: () => this.#remove(Key),
      // API/txn › KV Operations: with check-and-set semantics; API/kv › Delete Key, `cas`: the index can't be 0, and has to match.
      'delete-cas': () => (Index > 0 && entry?.modifyIndex === Index ? this.#remove(Key) : 'failed'),
      'get-tree': () => this.#tree(Key),
    };
    return (verbs[Verb] ?? (() => 'failed' as const))();
  }

  /** API/kv › Create/Update Key, `acquire`: not while another session holds it; and not within the lock-delay. */
  #canLock(key: string, session: string): boolean {
    const holder = this.#entries.get(key)?.session ?? '';
    const delayed = (this.#delayed.get(key) ?? 0) > this.#now();
    return this.#sessions.has(session) && !delayed && (holder === '' || holder === session);
  }

  /** API/kv › Create/Update Key, `acquire`: `LockIndex` counts acquisitions, not updates by the holder. */
  #lock(key: string, session: string, value: string): Shown[] {
    const entry = this.#entries.get(key);
    const lockIndex = (entry?.lockIndex ?? 0) + (entry?.session === session ? 0 : 1);
    return this.#put(key, { value, session, lockIndex });
  }

  /** API/kv › Create/Update Key, note: an update without `acquire` proceeds although another session has locked the key. */
  #put(key: string, change: Partial<Entry>): Shown[] {
    const before = this.#entries.get(key) ?? { value: '', session: '', createIndex: this.#index, lockIndex: 0 };
    const entry = { ...before, ...change, modifyIndex: this.#index };
    this.#remember(key);
    this.#entries.set(key, entry);
    // API/txn › Sample Response: `Value` is null for any verb other than "get" or "get-tree".
    return [{ ...show(key, entry), Value: null }];
  }

  /** API/txn › Sample Response: "no result entries will be added for verbs that delete keys". */
  #remove(key: string): Shown[] {
    this.#remember(key);
    if (this.#entries.delete(key)) this.#removed.set(key, this.#index);
    return [];
  }

  #remember(key: string): void {
    const [entry, removed] = [this.#entries.get(key), this.#removed.get(key)];
    this.#undo.push(() => (entry ? this.#entries.set(key, entry) : this.#entries.delete(key)));
    this.#undo.push(() => (removed ? this.#removed.set(key, removed) : this.#removed.delete(key)));
  }

  #tree(prefix: string): Shown[] {
    return [...this.#entries].filter(([key]) => key.startsWith(prefix)).map(([key, entry]) => show(key, entry));
  }
}

function holds(entry: Entry | undefined, session: string): boolean {
  return entry !== undefined && session !== '' && entry.session === session;
}

/** API/kv › Metadata Response: `Session` is there while the lock is held. */
function show(key: string, { value, session, createIndex, modifyIndex, lockIndex }: Entry): Shown {
  const indexes = { CreateIndex: createIndex, ModifyIndex: modifyIndex, LockIndex: lockIndex };
  return { Key: key, Flags: 0, Value: value, ...indexes, ...(session === '' ? {} : { Session: session }) };
}

/** API/session › Create Session: valid time units include "s", "m" and "h"; `LockDelay` is a duration of Go. */
function milliseconds(duration: string): number {
  const [, amount = '0', unit = 's'] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? [];
  return Number(amount) * ({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? 0);
}
