export { connectLeases } from './connect/connect-leases.js';
export type { ConnectLeasesOptions } from './connect/connect-leases.js';
export { Leases } from './holding/leases.js';
export { currentLease } from './holding/current-lease.js';
export type { AcquireOptions, LeaseGroup } from './holding/leases.js';
export type { Lease } from './holding/held-lease.js';
export { formatFence, parseFence, NO_FENCE } from './base/fence.js';
export type { Fence } from './base/fence.js';
export type { ResourceName } from './base/resource.js';
export type { LeaseStore } from './store/lease-store.js';
export {
  FencepostError,
  LeaseBusyError,
  LeaseLostError,
  StaleFenceError,
  StoreAwayError,
  SetupError,
  FenceExhaustedError,
} from './base/errors.js';
export type { LeaseEvent, LeaseObserver } from './telemetry/lease-events.js';
export { leaseLog } from './telemetry/lease-log.js';
export { systemClock } from './base/clock.js';
export type { Clock } from './base/clock.js';
