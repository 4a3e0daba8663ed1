export { LeaseModule } from './lease.module.js';
export { InjectLeases, WithLease } from './with-lease.decorator.js';
export type { WithLeaseOptions } from './with-lease.decorator.js';
export type { LeaseModuleOptions, LeaseSettings } from '../connect/lease-settings.js';
export { CLOCK, LEASE_OBSERVER, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE } from './tokens.js';
