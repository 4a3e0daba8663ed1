export { ConsulLeaseStore } from './consul-lease-store.js';
export type { ConsulLeaseStoreOptions } from './consul-lease-store.js';
export { ConsulError } from './consul-error.js';
export type { ConsulOptions } from './consul-options.js';
