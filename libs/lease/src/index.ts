export { systemClock, sleep } from './clock.js';
export type { CancelTimer, Clock } from './clock.js';

export { FencepostError, FenceExhaustedError, LeaseLostError, SetupError, StaleFenceError } from './errors.js';
export type { LossReason } from './errors.js';

export { NO_FENCE, formatFence, parseFence } from './fence.js';
export type { Fence } from './fence.js';

export { mustStop, renewed, stopAt, trustedUntil } from './lease.js';
export type { Lease, Term } from './lease.js';

export type { AcquireReply, AcquireRequest, Holding, LeaseStore, StopWatching } from './lease-store.js';
export { RedisLeaseStore } from './redis-lease-store.js';
export type { RedisLeaseStoreOptions } from './redis-lease-store.js';
export { MemoryLeaseStore } from './memory-lease-store.js';

export { LeaseKeeper } from './lease-keeper.js';
export type { LeaseKeeperOptions, TryAcquireOptions } from './lease-keeper.js';
export type { HeldLease, NotAcquired } from './held-lease.js';

export { LeaseModule } from './lease.module.js';
export type { LeaseModuleOptions, LeaseSettings } from './options.js';
export { CLOCK, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE } from './tokens.js';

export { checkedOptions } from './checked-options.js';
export { parseDuration } from './duration.js';
export { hashResource, ownerPrefix, processIdentity } from './identity.js';

export { RedisFencedRows } from './redis-fenced-rows.js';
export type { FencedWrite, JournalEntry, RedisFencedRowsOptions, TurnedDown } from './redis-fenced-rows.js';

export { RedisScript, loadScripts } from './redis-script.js';
export type { RedisClient } from './redis-script.js';
export { watchChannel } from './redis-channel.js';
export { redisChannel, redisKeys } from './redis-keys.js';
export type { KeyBuilder, KeySpace } from './redis-keys.js';
export { isRedisUrl, redactUrl } from './redis-address.js';
export { closeRedis, connectRedis } from './redis-connection.js';
export type { ConnectOptions } from './redis-connection.js';
