export { MemoryLedger } from './memory/memory-ledger.js';
