export { MemoryCatalog } from './memory/memory-catalog.js';
export { MemoryLedger } from './memory/memory-ledger.js';
