import type { SemaphoreStore } from '@fencepost/lease/coordination';
import type { LeaseStoreHarness } from './lease-store.contract.js';

/** The same as for a lease store, which a semaphore store with one place is; a resource is free when a place is. */
export interface SemaphoreStoreHarness extends LeaseStoreHarness {
  readonly store: SemaphoreStore;
  /** Makes the store's wall clock go back by `ms`, as far as the places of `resource` are concerned. */
  clockGoesBack(resource: string, ms: number): Promise<void>;
}
