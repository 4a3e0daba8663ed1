export { ManualClock, MemoryLeaseStore } from '@fencepost/lease/testing';
export { MemoryCatalog } from '../catalog/memory-catalog.js';
export { MemoryLedger } from '../ledger/memory-ledger.js';
export type { Delivery } from '../ledger/ledger.js';
export type { Carried } from '../running/carrier.js';
export { MemoryRunQueue } from './memory-run-queue.js';
export type { MemoryRunQueueOptions, Work } from './memory-run-queue.js';
