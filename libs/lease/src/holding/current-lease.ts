import { AsyncLocalStorage } from 'node:async_hooks';
import type { Lease } from './held-lease.js';

const storage = new AsyncLocalStorage<Lease>();

/** Runs `work`, and everything it awaits, under `lease`. */
export function underLease<T>(lease: Lease, work: (lease: Lease) => Promise<T>): Promise<T> {
  return storage.run(lease, () => work(lease));
}

/**
 * The lease that the caller works under, as set by `leases.using` and `@WithLease`; the innermost where they are nested.
 * For code deep inside that writes and needs the fence, without a parameter through every function above it.
 */
export function currentLease(): Lease | undefined {
  return storage.getStore();
}
