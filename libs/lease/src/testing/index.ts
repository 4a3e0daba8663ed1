export { ManualClock } from './manual-clock.js';
export { MemoryLeaseStore } from '../store/memory-lease-store.js';
export { leaseStoreContract } from './lease-store-contract.js';
export type { LeaseStoreHarness, TestRunner } from './lease-store-contract/harness.js';
