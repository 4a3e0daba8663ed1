export { RedisLeaseStore } from './redis-lease-store.js';
export { NotReplicatedError } from './replicated-write.js';
export type { RedisLeaseStoreOptions } from './redis-lease-options.js';
export { connectRedis, closeRedis } from './redis-connection.js';
export type { ConnectOptions } from './redis-connection.js';
export type { RedisClient } from './redis-script.js';
export type { RedisTarget } from './redis-target.js';
