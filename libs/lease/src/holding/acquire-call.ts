import type { AcquireRequest } from '../store/lease-store.js';
import type { Hold, LeaseHooks, NotAcquired } from './held-lease.js';

export const NOTHING: NotAcquired = { acquired: false, remainingMs: 0 };

/** One call to the store for leases. */
export interface AcquireCall {
  readonly requests: readonly AcquireRequest[];
  readonly hold: Hold;
  /** How often all leases of the keeper had been released when it was sent. */
  readonly generation: number;
  readonly hooks: LeaseHooks;
}
