export { LeaseModule, CLOCK, LEASE_OBSERVER, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE } from './lease.module.js';
export { InjectLeases, WithLease } from './with-lease.decorator.js';
export type { WithLeaseOptions } from './with-lease.decorator.js';
export type { LeaseModuleOptions, LeaseSettings } from '../connect/lease-settings.js';
