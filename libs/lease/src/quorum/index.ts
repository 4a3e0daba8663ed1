export { QuorumLeaseStore } from './quorum-lease-store.js';
export type { QuorumLeaseStoreOptions, NamedMember } from './quorum-options.js';
export { connectQuorum } from './redis-quorum.js';
export type { ConnectQuorumOptions, RedisQuorum } from './redis-quorum.js';
export { QuorumUnavailableError } from './quorum-unavailable-error.js';
export type { QuorumMember } from '../store/lease-store.js';
