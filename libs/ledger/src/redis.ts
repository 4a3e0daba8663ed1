export { RedisLedger } from './redis-ledger.js';
export type { ReplicationOptions } from './replicated-writes.js';
