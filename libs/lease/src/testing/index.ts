export { ManualClock } from './manual-clock.js';
export { MemoryLeaseStore } from '../memory-lease-store.js';
