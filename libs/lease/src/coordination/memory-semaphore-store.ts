import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole, notifyWatcher } from '../store/lease-request.js';
import type { Term } from '../store/grant.js';
import { pageOfNames } from '../store/holdings-page.js';
import { nextFence } from '../store/next-fence.js';
import type { AcquireReply, AcquireRequest, Holding, HoldingsPage, StopWatching } from '../store/lease-store.js';
import { byFence, checkPlaces, nextToFree } from './semaphore.js';
import type { SemaphoreStore } from './semaphore-store.js';

interface StoredTerm {
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  readonly acquiredAt: number;
  ttlMs: number;
  endsAt: number;
}

interface StoredResource {
  terms: StoredTerm[];
  fence: Fence;
  asked: number | undefined;
  set: number | undefined;
}

interface Watcher {
  readonly onReleased: (resource: string) => void;
}

/**
 * The in-memory adapter, for tests and for one process: all users of the instance compete for the same places.
 *
 * Its clock is the server's clock. Expiry follows the wall clock, as it does in Redis, so that a test can step it.
 */
export class MemorySemaphoreStore implements SemaphoreStore {
  readonly #clock: Clock;
  readonly #resources = new Map<string, StoredResource>();
  readonly #watchers = new Set<Watcher>();

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock;
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const { places = 1 } = request;
    checkPlaces(places);
    const own = this.#living(request);
    if (own) {
      this.#extend(own, request.ttlMs);
      return { acquired: true, fence: own.fence };
    }
    const stored = this.#stored(request.resource);
    stored.asked = places;
    stored.terms = this.#taken(request.resource);
    if (stored.terms.length < (stored.set ?? places)) return { acquired: true, fence: this.#grant(stored, request) };
    this.#cut(stored.terms);
    return { acquired: false, remainingMs: this.#untilFree(request.resource, stored.set ?? places) };
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return terms.map((term) => {
      const current = this.#living(term);
      if (current) this.#extend(current, ttlMs);
      return current !== undefined;
    });
  }

  async release(terms: readonly Term[]): Promise<boolean[]> {
    return terms.map((term) => this.#end(term.resource, ({ nonce }) => nonce === term.nonce));
  }

  async evict(resource: string, fence: Fence): Promise<boolean> {
    return this.#end(resource, (term) => term.fence === fence);
  }

  /** Each held place. */
  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    const { names, next } = pageOfNames(this.#resources.keys(), after, limit);
    const items = names.flatMap((resource) =>
      this.#taken(resource).map((term) => ({ resource, ...this.#shown(term) })),
    );
    return { items, next };
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    return resources.map((resource) => {
      const { asked = 0, set = asked } = this.#resources.get(resource) ?? {};
      const next = nextToFree(this.#taken(resource), set);
      return next ? this.#shown(next) : null;
    });
  }

  async holders(resource: string): Promise<Holding[]> {
    return this.#taken(resource)
      .map((term) => this.#shown(term))
      .toSorted(byFence);
  }

  async resize(resource: string, places: number | null): Promise<void> {
    if (places !== null) checkPlaces(places);
    const stored = this.#stored(resource);
    const before = stored.set ?? stored.asked ?? 0;
    stored.set = places ?? undefined;
    if ((stored.set ?? stored.asked ?? Number.POSITIVE_INFINITY) > before) this.#announce(resource);
  }

  async watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const watcher = { onReleased };
    this.#watchers.add(watcher);
    return async () => void this.#watchers.delete(watcher);
  }

  /** Forgets everything, fence counters and sizes too: a server that restarted without its data. */
  clear(): void {
    this.#resources.clear();
  }

  #end(resource: string, isMeant: (term: StoredTerm) => boolean): boolean {
    const current = this.#taken(resource).find(isMeant);
    if (!current) return false;
    const stored = this.#stored(resource);
    stored.terms = stored.terms.filter((other) => other !== current);
    this.#announce(resource);
    return true;
  }

  /** Later and each by itself, as a message from a server would come: a watcher can't fail a release. */
  #announce(resource: string): void {
    for (const watcher of this.#watchers) {
      queueMicrotask(() => this.#watchers.has(watcher) && notifyWatcher(watcher.onReleased, resource));
    }
  }

  #grant(stored: StoredResource, { resource, nonce, holder, ttlMs, floor }: AcquireRequest): Fence {
    const fence = nextFence({ resource, floor }, stored.fence, this.#clock.now());
    stored.fence = fence;
    const acquiredAt = this.#clock.now();
    stored.terms.push({ nonce, holder, fence, ttlMs, acquiredAt, endsAt: acquiredAt + ttlMs });
    return fence;
  }

  /** Twice the ttl can only be left when the clock went back: cut, or the place of a dead holder would be lost for that long. */
  #cut(terms: readonly StoredTerm[]): void {
    for (const term of terms) {
      if (term.endsAt - this.#clock.now() > 2 * term.ttlMs) this.#extend(term, term.ttlMs);
    }
  }

  #untilFree(resource: string, places: number): number {
    const next = nextToFree(this.#taken(resource), places);
    return next ? next.endsAt - this.#clock.now() : 0;
  }

  #stored(resource: string): StoredResource {
    const known = this.#resources.get(resource);
    if (known) return known;
    const stored = { terms: [], fence: NO_FENCE, asked: undefined, set: undefined };
    this.#resources.set(resource, stored);
    return stored;
  }

  /** The one that ends first in front. */
  #taken(resource: string): StoredTerm[] {
    const living = this.#resources.get(resource)?.terms.filter(({ endsAt }) => endsAt > this.#clock.now()) ?? [];
    return living.toSorted((a, b) => a.endsAt - b.endsAt);
  }

  #living({ resource, nonce }: Term): StoredTerm | undefined {
    return this.#taken(resource).find((term) => term.nonce === nonce);
  }

  /** Never shortens: a renewal with a shorter ttl may come late, after a longer one that the holder trusts. */
  #extend(term: StoredTerm, ttlMs: number): void {
    const now = this.#clock.now();
    const leftMs = Math.min(term.endsAt - now, term.ttlMs);
    if (ttlMs >= leftMs) term.ttlMs = ttlMs;
    term.endsAt = now + Math.max(ttlMs, leftMs);
  }

  #shown({ holder, fence, endsAt, acquiredAt }: StoredTerm): Holding {
    return { holder, fence, remainingMs: endsAt - this.#clock.now(), acquiredAt };
  }
}
