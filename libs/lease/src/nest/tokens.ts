/** Injects the {@link Clock}. */
export const CLOCK = Symbol('fencepost:clock');

/** Injects the {@link LeaseStore}. */
export const LEASE_STORE = Symbol('fencepost:lease-store');

/** Injects the Redis connection that the module opened, and closes. */
export const LEASE_REDIS = Symbol('fencepost:lease-redis');

/** Injects the validated {@link LeaseSettings}. */
export const LEASE_SETTINGS = Symbol('fencepost:lease-settings');

/** Injects the {@link LeaseObserver} that hears of everything the module's leases do. */
export const LEASE_OBSERVER = Symbol('fencepost:lease-observer');
