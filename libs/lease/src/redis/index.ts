export { RedisLeaseStore, NotReplicatedError } from './redis-lease-store.js';
export type { RedisLeaseStoreOptions } from './redis-lease-store.js';
export { connectRedis, closeRedis } from './redis-connection.js';
export type { ConnectOptions } from './redis-connection.js';
export type { RedisClient } from './redis-script.js';
export type { RedisTarget } from './redis-target.js';
