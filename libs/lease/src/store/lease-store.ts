import type { Fence } from '../base/fence.js';
import type { AcquireReply, AcquireRequest, Term } from './grant.js';
import type { LeaseSessions } from './lease-sessions.js';
import type { Criticality, Finding } from './finding.js';

export type { AcquireReply, AcquireRequest } from './grant.js';

/** A held resource, for display. Never a basis for acting. */
export interface Holding {
  readonly holder: string;
  readonly fence: Fence;
  readonly remainingMs: number;
  /** When the term began, epoch milliseconds of the store's clock; left out where the store doesn't know. */
  readonly acquiredAt?: number;
}

export interface ListedHolding extends Holding {
  readonly resource: string;
}

/** Some of the held resources, in no order. */
export interface HoldingsPage {
  /** May be empty though more follow. */
  readonly items: readonly ListedHolding[];
  /** What the next page comes after; `null` at the end. */
  readonly next: string | null;
}

export type StopWatching = () => Promise<void>;

/**
 * The holder and the fence of each resource. Every implementation passes `leaseStoreContract` of `@fencepost/lease/testing`.
 *
 * Each call is idempotent on the term's nonce: a reply may be lost and the command sent again. A call rejects only when
 * the store could not be asked; every answer it gave is a value.
 */
export interface LeaseStore {
  /**
   * Whether requests that wait are served in their order: a released resource is kept for the first of them that lives, for a
   * second at most. The release of a nonce ends its waiting. Optional; without it the first to ask after a release acquires it.
   */
  readonly servesInOrder?: true;
  /**
   * Acquires the resource if it is free and issues a fence in the same step, or does neither.
   * @throws {FenceExhaustedError} when the next fence would pass 2^53 − 1
   */
  acquire(request: AcquireRequest): Promise<AcquireReply>;
  /**
   * Acquires each of many in one call, independently, in the order given. Optional.
   * @throws {FenceExhaustedError} as `acquire`; leases granted in the same call expire
   */
  acquireMany?(requests: readonly AcquireRequest[]): Promise<AcquireReply[]>;
  /**
   * Extends exactly these terms to `ttlMs` from now; `false` for a term that is over. In the order given. Never creates, and
   * never shortens: a term ends at the later of `ttlMs` from now and its end so far. The holder trusts the longest renewal
   * that was answered, and one with a shorter ttl may be carried out after it.
   */
  renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]>;
  /** Ends exactly these terms and announces each end; `false` for a term that was over. In the order given. */
  release(terms: readonly Term[]): Promise<boolean[]>;
  /**
   * Ends the term that has exactly this fence, for any holder, and announces its end; `false` for one that is over. For a
   * caller with reason to believe that the holder is dead: a live one is refused its next renewal, and its writes under the
   * old fence are refused by every system that has seen a larger one. Optional.
   */
  evict?(resource: string, fence: Fence): Promise<boolean>;
  /** The holder of each resource now, `null` for a free one. In the order given. */
  inspect(resources: readonly string[]): Promise<(Holding | null)[]>;
  /**
   * The held resources with their names, a page at a time, for display. Each is on a page that was held from the first page
   * to the last; it may be on several. A call looks at about `limit` keys or rows of the store, held or not. Optional.
   * @param after `null` for the first page, else `next` of the page before
   * @throws {RangeError} for a cursor that can't be one
   */
  list?(after: string | null, limit: number): Promise<HoldingsPage>;
  /** Calls `onReleased` after a release by any process. A hint that may get lost; expiry is never announced. */
  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching>;
  /** Terms that live while their holder's session does. Optional; without it each term is renewed by itself. */
  readonly sessions?: LeaseSessions;
  /** What the store can't guarantee for this criticality. Optional; without it nothing is known. */
  probe?(criticality: Criticality): Promise<readonly Finding[]>;
}

/** A store that can be a node of a quorum: its fence can be raised to the one that a majority agreed on. */
export interface QuorumMember extends LeaseStore {
  evict(resource: string, fence: Fence): Promise<boolean>;
  /**
   * Lifts the fence of exactly this term, and the resource's counter, to at least `fence`; never lowers either.
   * @returns `false` for a term that is over; nothing was changed then
   */
  raiseFence(term: Term, fence: Fence): Promise<boolean>;
}
