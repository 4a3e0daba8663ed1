export { RedisCatalog } from './redis/redis-catalog.js';
export { RedisLedger } from './redis/redis-ledger.js';
export type { ReplicationOptions } from './redis/replicated-writes.js';
