export { EtcdLeaseStore } from './etcd-lease-store.js';
export type { EtcdLeaseStoreOptions } from './etcd-lease-store.js';
export { EtcdError } from './etcd-error.js';
export type { EtcdOptions, EtcdUser } from './etcd-options.js';
