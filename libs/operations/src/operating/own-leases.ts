import type { Clock, Fence, LeaseStore } from '@fencepost/lease';
import type { SemaphoreStore } from '@fencepost/lease/coordination';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding, HoldingsPage, ListedHolding } from '@fencepost/lease/store';
import { OperatorInputError } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { checkedText } from '@fencepost/jobs/internal';
import { readHolders, type LivePodPorts, type SignOf } from './live-pods.js';
import type { OwnKind, OwnLease } from './own-lease.js';
import { LeaseMovedError, shownLease } from './lease-moved-error.js';
import { OwnLeaseWatch, type OwnTerm, type OwnWatchReport } from './own-leases-watch.js';
import { withAudit } from './with-audit.js';

export interface OwnLeasePage {
  readonly items: readonly OwnLease[];
  /** Where the next page begins; `null` at the end. */
  readonly next: string | null;
}

export interface OwnLeaseFilter {
  readonly kind?: OwnKind | undefined;
  /** Part of the resource's name. */
  readonly resource?: string | undefined;
  /** Part of what is shown of the holder. */
  readonly holder?: string | undefined;
}

export interface OwnStores {
  readonly leases: Pick<LeaseStore, 'inspect' | 'list' | 'evict'>;
  readonly semaphores: Pick<SemaphoreStore, 'holders' | 'list' | 'evict'>;
}

export interface OwnLeasesPorts {
  readonly own: OwnStores;
  /** For what is only looked at. */
  readonly reads: LivePodPorts & { readonly own: OwnStores };
  readonly audit: Pick<AuditTrail, 'append'>;
  readonly clock: Clock;
}

export interface ClearOwnOrder {
  readonly kind: OwnKind;
  /** That of the term that was looked at: another one is not cleared. */
  readonly fence: Fence;
  /** That whoever orders it has made sure that nothing is damaged if the old holder still writes. */
  readonly isDownstreamSafe: boolean;
  readonly by: string;
  readonly role: string;
  readonly from: string;
  readonly reason: string;
}

export interface ClearedOwnLease {
  readonly cleared: OwnLease;
  /** The next holder, if it was so quick. */
  readonly next: OwnLease | null;
}

/** A call to a store looks at no more keys than this, and a page takes no more than this many calls. */
const MAX_LOOKED_AT = 1_000;
const MAX_CALLS = 20;
const CURSOR = /^(?<store>leases|semaphores):(?<rest>.*)$/s;

type StoreName = keyof OwnStores;

/** What the application itself holds, beside its crons. */
export class OwnLeases {
  constructor(private readonly ports: OwnLeasesPorts) {}

  /**
   * A page of about `limit`, of any number the store has; it may be shorter, even empty, though more follow.
   * @throws {OperatorInputError} for a cursor that no page had
   */
  async list(filter: OwnLeaseFilter, limit: number, after: string | null = null): Promise<OwnLeasePage> {
    const signOf = await readHolders(this.ports.reads);
    const found: OwnLease[] = [];
    let next: string | null = after ?? `${filter.kind === 'semaphore' ? 'semaphores' : 'leases'}:`;
    let looksAt = limit;
    for (let calls = 0; next !== null && found.length < limit && calls < MAX_CALLS; calls += 1) {
      const page: Listed = await this.#listed(next, Math.min(looksAt, MAX_LOOKED_AT));
      found.push(...page.items.map((one) => ownLease(one, page.store, signOf)).filter((one) => fits(one, filter)));
      next = page.next === 'semaphores:' && filter.kind !== undefined ? null : page.next;
      looksAt *= 2;
    }
    return { items: found.toSorted(byName), next };
  }

  /** All that is held under exactly this name: a lease, the places of a semaphore, or both. */
  async named(resource: string, { own, ...live } = this.ports.reads): Promise<OwnLease[]> {
    const [[lease = null], places, signOf] = await Promise.all([
      own.leases.inspect([resource]),
      own.semaphores.holders(resource),
      readHolders(live),
    ]);
    const leases = lease ? [ownLease({ resource, ...lease }, 'leases', signOf)] : [];
    return [...leases, ...places.map((place) => ownLease({ resource, ...place }, 'semaphores', signOf))];
  }

  /**
   * Ends exactly the term with this fence, whoever holds it, and leaves an audit record.
   * @throws {LeaseMovedError} when another term, or none, is there by now; nothing is changed then
   * @throws {OperatorInputError} for an order that can't be
   */
  async clear(resource: string, order: ClearOwnOrder): Promise<ClearedOwnLease> {
    const { kind, fence, role, from, isDownstreamSafe } = order;
    const [by, reason] = [checkedText('by', order.by), checkedText('reason', order.reason)];
    if (!isDownstreamSafe) throw OperatorInputError.of('downstreamSafe', 'true, as a confirmation', isDownstreamSafe);
    const cleared = await this.#held(resource, kind, (one) => one.fence === fence);
    if (!cleared) throw await this.#moved(resource, order);
    const before = { kind, resource, downstreamSafe: isDownstreamSafe, ...shownLease(cleared) };
    const about = { by, role, from, reason, action: 'clear-lease', cron: null, runId: null, before };
    return withAudit(
      this.ports.audit,
      { ...about, after: ({ next }: ClearedOwnLease) => shownLease(next) },
      async () => {
        const store = this.ports.own[kind === 'semaphore' ? 'semaphores' : 'leases'];
        if (!store.evict) throw new TypeError('This lease store cannot end a term by its fence.');
        if (!(await store.evict(resource, fence))) throw await this.#moved(resource, order);
        return { cleared, next: await this.#held(resource, kind, (one) => one.fence > fence) };
      },
    );
  }

  /** Looks at what became of a term that was cleared: the next holder, its fence, and whether the old one comes back. */
  watch(term: OwnTerm, ms: number, signal?: AbortSignal): Promise<OwnWatchReport> {
    const { clock } = this.ports;
    return new OwnLeaseWatch(term).follow(() => this.named(term.resource), ms, { clock, signal });
  }

  /** On the connection that changes things: replies there are no older than the last change. */
  async #held(resource: string, kind: OwnKind, isMeant: (one: OwnLease) => boolean): Promise<OwnLease | null> {
    const held = await this.named(resource, { ...this.ports.reads, own: this.ports.own });
    return held.findLast((one) => one.kind === kind && isMeant(one)) ?? null;
  }

  async #moved(resource: string, { kind, fence }: ClearOwnOrder): Promise<LeaseMovedError> {
    return new LeaseMovedError(resource, fence, await this.#held(resource, kind, () => true));
  }

  async #listed(cursor: string, limit: number): Promise<Listed> {
    const { store = '', rest = '' } = CURSOR.exec(cursor)?.groups ?? {};
    if (store !== 'leases' && store !== 'semaphores') throw badCursor(cursor);
    const page = await this.#page(store, rest === '' ? null : rest, limit);
    if (page.next !== null) return { ...page, store, next: `${store}:${page.next}` };
    return { ...page, store, next: store === 'leases' ? 'semaphores:' : null };
  }

  async #page(name: StoreName, after: string | null, limit: number): Promise<HoldingsPage> {
    const store = this.ports.reads.own[name];
    if (!store.list) throw new TypeError('This lease store cannot list what is held.');
    try {
      return await store.list(after, limit);
    } catch (error) {
      if (error instanceof RangeError) throw badCursor(after);
      throw error;
    }
  }
}

type Listed = HoldingsPage & { readonly store: StoreName };

function ownLease(holding: ListedHolding, store: StoreName, signOf: SignOf): OwnLease {
  const { holderState } = signOf(holding.holder, false);
  return { ...holding, kind: kindOf(holding.resource, store), holderIsPod: holderState !== 'unknown' };
}

/** By the types that elections and single flights alone take leases under. */
function kindOf(resource: string, store: StoreName): OwnKind {
  if (store === 'semaphores') return 'semaphore';
  if (resource.startsWith('role:')) return 'election';
  return resource.startsWith('flight:') ? 'flight' : 'lease';
}

function fits(one: OwnLease, { kind, resource = '', holder = '' }: OwnLeaseFilter): boolean {
  return (kind ?? one.kind) === one.kind && one.resource.includes(resource) && ownerPrefix(one.holder).includes(holder);
}

function byName(a: Holding & OwnLease, b: OwnLease): number {
  if (a.resource !== b.resource) return a.resource < b.resource ? -1 : 1;
  return a.fence - b.fence;
}

function badCursor(got: unknown): OperatorInputError {
  return OperatorInputError.of('after', '"next" of the page before', got);
}
