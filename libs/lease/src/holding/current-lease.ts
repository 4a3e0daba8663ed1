import { AsyncLocalStorage } from 'node:async_hooks';
import { LeaseHeldError } from '../base/errors.js';
import type { Lease } from './held-lease.js';

/** What the caller works under: a lease, of whose leases, and what that itself stands under. */
interface Working {
  readonly lease: Lease;
  readonly leases: object;
  readonly outer: Working | undefined;
}

const storage = new AsyncLocalStorage<Working>();

/** Runs `work`, and everything it awaits, under `lease`. */
export function underLease<T>(lease: Lease, leases: object, work: (lease: Lease) => Promise<T>): Promise<T> {
  return storage.run({ lease, leases, outer: storage.getStore() }, () => work(lease));
}

/**
 * The lease that the caller works under, as set by `leases.using` and `@WithLease`; the innermost where they are nested.
 * For code deep inside that writes and needs the fence, without a parameter through every function above it.
 */
export function currentLease(): Lease | undefined {
  return storage.getStore()?.lease;
}

/**
 * Other callers of the process may wait for each other; one that works under a lease of these would wait for itself.
 * @throws {LeaseHeldError}
 */
export function refuseOwn(leases: object, resources: readonly string[]): void {
  for (let working = storage.getStore(); working; working = working.outer) {
    const { resource, signal } = working.lease;
    if (working.leases === leases && resources.includes(resource) && !signal.aborted)
      throw new LeaseHeldError(resource);
  }
}
