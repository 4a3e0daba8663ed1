import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole, notifyWatcher } from './lease-request.js';
import type { Criticality, Finding } from './finding.js';
import { heldOf, pageOfNames } from './holdings-page.js';
import { ALL_RELEASED } from './lease-sessions.js';
import type { LeaseSessions } from './lease-sessions.js';
import { MemoryLeaseSessions } from './memory-lease-sessions.js';
import type { StoredSession } from './memory-lease-sessions.js';
import { nextFence } from './next-fence.js';
import { RESERVED_MS, entered, type WaitQueue } from './wait-queue.js';
import type { AcquireReply, AcquireRequest, Holding, HoldingsPage, QuorumMember, StopWatching } from './lease-store.js';
import type { Term } from './grant.js';

interface StoredTerm {
  readonly nonce: string;
  readonly holder: string;
  fence: Fence;
  readonly acquiredAt: number;
  ttlMs: number;
  /** Of a term without a session. */
  expiresAt: number;
  /** The nonce of the session that the term lives with. */
  readonly session?: string | undefined;
  queue?: WaitQueue;
  /** Kept for the waiter with this nonce: nobody holds it. */
  readonly isReserved?: true;
}

/** A state of the memory store. */
export interface SavedLeases {
  readonly terms: ReadonlyMap<string, StoredTerm>;
  readonly fences: ReadonlyMap<string, Fence>;
  readonly sessions: ReadonlyMap<string, StoredSession>;
}

/**
 * The in-memory adapter, for tests and for one process: all users of the instance compete for the same leases.
 *
 * Its clock is the server's clock. Expiry follows the wall clock, as it does in Redis, so that a test can step it.
 */
export class MemoryLeaseStore implements QuorumMember {
  readonly servesInOrder = true;
  readonly #clock: Clock;
  readonly #terms = new Map<string, StoredTerm>();
  readonly #fences = new Map<string, Fence>();
  readonly #watchers = new Set<{ onReleased: (resource: string) => void }>();
  readonly #sessions = new MemoryLeaseSessions({
    now: () => this.#clock.now(),
    acquire: (request, session) => this.#acquire(request, session),
    sessionOf: (resource, fence) => {
      const current = this.#current(resource);
      return current?.fence === fence ? current.session : undefined;
    },
    announceAll: () => this.#announceAll(ALL_RELEASED),
  });
  readonly sessions: LeaseSessions = this.#sessions;

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock;
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    return this.#acquire(request);
  }

  #acquire({ resource, nonce, holder, ttlMs, floor, waits }: AcquireRequest, session?: string): AcquireReply {
    const current = this.#current(resource);
    const queue = current?.isReserved && current.nonce === nonce ? current.queue : undefined;
    if (current?.nonce === nonce && !current.isReserved) {
      if (current.session === undefined) this.#extend(current, ttlMs);
      return { acquired: true, fence: current.fence };
    }
    if (current && current.nonce !== nonce) {
      if (waits) current.queue = entered(current.queue ?? [], nonce, this.#clock.now());
      return { acquired: false, remainingMs: this.#remaining(current) };
    }
    const fence = nextFence({ resource, floor }, this.#fences.get(resource) ?? NO_FENCE, this.#clock.now());
    this.#fences.set(resource, fence);
    const acquiredAt = this.#clock.now();
    const term = { nonce, holder, fence, ttlMs, acquiredAt, expiresAt: acquiredAt + ttlMs, session };
    this.#terms.set(resource, queue ? { ...term, queue } : term);
    return { acquired: true, fence };
  }

  acquireMany(requests: readonly AcquireRequest[]): Promise<AcquireReply[]> {
    return Promise.all(requests.map((request) => this.acquire(request)));
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return terms.map((term) => {
      const current = this.#same(term);
      // A term that lives with its session has no ttl to extend.
      if (!current || current.session !== undefined) return false;
      this.#extend(current, ttlMs);
      return true;
    });
  }

  async release(terms: readonly Term[]): Promise<boolean[]> {
    return terms.map(({ resource, nonce }) => {
      const current = this.#current(resource);
      if (current?.queue) current.queue = current.queue.filter((waiter) => waiter.nonce !== nonce);
      if (current?.nonce !== nonce) return false;
      this.#end(resource, current);
      return !current.isReserved;
    });
  }

  async evict(resource: string, fence: Fence): Promise<boolean> {
    const current = this.#current(resource);
    if (current?.fence !== fence || current.isReserved) return false;
    if (current.session !== undefined) this.#sessions.revoke(current.session, { resource, nonce: current.nonce });
    this.#end(resource, current);
    return true;
  }

  async raiseFence(term: Term, fence: Fence): Promise<boolean> {
    checkWhole('fence', fence, 1);
    const current = this.#same(term);
    if (!current) return false;
    current.fence = Math.max(current.fence, fence) as Fence;
    this.#fences.set(term.resource, Math.max(this.#fences.get(term.resource) ?? NO_FENCE, fence) as Fence);
    return true;
  }

  async probe(criticality: Criticality): Promise<Finding[]> {
    if (criticality === 'efficiency') return [];
    const message =
      'Expected a store that outlives its process, found one in memory: other processes are not kept out. ' +
      'Use Redis, PostgreSQL or etcd.';
    return [{ code: 'NO_PERSISTENCE', danger: 'refuse', message }];
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    return resources.map((resource) => {
      const current = this.#current(resource);
      if (!current || current.isReserved) return null;
      const { holder, fence, acquiredAt } = current;
      return { holder, fence, remainingMs: this.#expiry(current) - this.#clock.now(), acquiredAt };
    });
  }

  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    const { names, next } = pageOfNames(this.#terms.keys(), after, limit);
    return { items: heldOf(names, await this.inspect(names)), next };
  }

  async watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const watcher = { onReleased };
    this.#watchers.add(watcher);
    return async () => void this.#watchers.delete(watcher);
  }

  /** Forgets everything, fence counters too: a server that restarted without its data. */
  clear(): void {
    this.#terms.clear();
    this.#fences.clear();
    this.#sessions.restore(new Map());
  }

  /** What {@link restore} takes; nothing that happens later changes it. */
  save(): SavedLeases {
    return { terms: structuredClone(this.#terms), fences: new Map(this.#fences), sessions: this.#sessions.save() };
  }

  /** Like a failover to a lagging replica: the replies since then are lost without notice. */
  restore(saved: SavedLeases): void {
    this.clear();
    for (const [resource, term] of structuredClone(saved.terms)) this.#terms.set(resource, term);
    for (const [resource, fence] of saved.fences) this.#fences.set(resource, fence);
    this.#sessions.restore(saved.sessions);
  }

  /** The first waiter is next. */
  #end(resource: string, { queue = [] }: StoredTerm): void {
    const now = this.#clock.now();
    const [first, ...others] = queue.filter(({ aliveUntil }) => aliveUntil > now);
    if (first) this.#terms.set(resource, reservedFor(first.nonce, now, others));
    else this.#terms.delete(resource);
    this.#announceAll(resource);
  }

  #announceAll(resource: string): void {
    // Later and each by itself, as a message from a server would come: a watcher can't fail a release.
    for (const watcher of this.#watchers) queueMicrotask(() => this.#announce(watcher, resource));
  }

  #announce(watcher: { onReleased: (resource: string) => void }, resource: string): void {
    if (this.#watchers.has(watcher)) notifyWatcher(watcher.onReleased, resource);
  }

  #current(resource: string): StoredTerm | undefined {
    const term = this.#terms.get(resource);
    return term && this.#expiry(term) > this.#clock.now() ? term : undefined;
  }

  #expiry(term: StoredTerm): number {
    if (term.session === undefined) return term.expiresAt;
    return this.#sessions.live(term.session)?.expiresAt ?? Number.NEGATIVE_INFINITY;
  }

  #same({ resource, nonce }: Term): StoredTerm | undefined {
    const current = this.#current(resource);
    return current?.nonce === nonce && !current.isReserved ? current : undefined;
  }

  /** Never shortens: a renewal with a shorter ttl may come late, after a longer one that the holder trusts. */
  #extend(term: StoredTerm, ttlMs: number): void {
    const now = this.#clock.now();
    const leftMs = Math.min(term.expiresAt - now, term.ttlMs);
    if (ttlMs >= leftMs) term.ttlMs = ttlMs;
    term.expiresAt = now + Math.max(ttlMs, leftMs);
  }

  /** More than twice the TTL is only left when the clock went back: cut it, or the resource stays blocked for that long. */
  #remaining(term: StoredTerm): number {
    const session = term.session === undefined ? undefined : this.#sessions.live(term.session);
    if (session) return this.#sessions.remaining(session);
    if (term.expiresAt - this.#clock.now() > 2 * term.ttlMs) this.#extend(term, term.ttlMs);
    return term.expiresAt - this.#clock.now();
  }
}

function reservedFor(nonce: string, now: number, queue: WaitQueue): StoredTerm {
  const times = { acquiredAt: now, ttlMs: RESERVED_MS, expiresAt: now + RESERVED_MS };
  return { nonce, holder: '', fence: NO_FENCE, ...times, queue, isReserved: true };
}
