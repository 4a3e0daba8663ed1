export { ZookeeperLeaseStore } from './zookeeper-lease-store.js';
export type { ZookeeperLeaseStoreOptions } from './zookeeper-lease-store.js';
export { ZookeeperError } from './zookeeper-error.js';
export type { ZookeeperOptions, ZookeeperUser } from './zookeeper-options.js';
