import type { Clock } from '../base/clock.js';
import type { LeaseLostError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { LeaseStore } from '../store/lease-store.js';
import type { Lease } from './held-lease.js';
import type { Listeners } from './lease-reports.js';

export interface LeaseKeeperOptions extends Listeners {
  readonly store: LeaseStore;
  readonly clock?: Clock;
  /** The identity of this process; see `processIdentity`. */
  readonly holder?: string;
  /** A fresh nonce for each term. */
  readonly newNonce?: () => string;
}

export interface TryAcquireOptions {
  /** Defaults to the keeper's own. */
  readonly holder?: string | undefined;
  /** 300 ms to 1 h. */
  readonly ttlMs: number;
  /** The highest fence known to have been accepted for the resource; default: none. */
  readonly floor?: Fence | undefined;
  /** After how many milliseconds the lease is lost, however often it was renewed; default: never. */
  readonly maxHoldMs?: number | undefined;
  /** How many may hold it at once, where the store is a semaphore's. */
  readonly places?: number | undefined;
  /** Of a caller that waits and asks again with it, in a store that serves in order; default: a fresh one. */
  readonly waitsAs?: string | undefined;
}

export interface WantedLease {
  readonly resource: string;
  /** The highest fence known to have been accepted for the resource; default: none. */
  readonly floor?: Fence | undefined;
}

export interface TryAcquireManyOptions {
  /** 300 ms to 1 h. */
  readonly ttlMs: number;
  /** Called once for each of these leases that is lost, when its signal would abort. */
  readonly onLost?: (lease: Lease, error: LeaseLostError) => void;
}
