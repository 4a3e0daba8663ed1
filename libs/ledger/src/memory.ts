export { MemoryAuditTrail } from './memory/memory-audit-trail.js';
export { MemoryCatalog } from './memory/memory-catalog.js';
export { MemoryLedger } from './memory/memory-ledger.js';
