export { connectLeases } from './connect-leases.js';
export type { ConnectLeasesOptions } from './connect-leases.js';
export { Leases } from './holding/leases.js';
export type { AcquireOptions } from './holding/leases.js';
export type { Lease } from './holding/held-lease.js';
export type { LeaseGroup } from './holding/lease-group.js';
export { currentLease } from './holding/current-lease.js';
export { formatFence, parseFence, NO_FENCE } from './fence.js';
export type { Fence } from './fence.js';
export type { ResourceName } from './resource.js';
export type { LeaseStore } from './store/lease-store.js';
export {
  FencepostError,
  LeaseBusyError,
  LeaseLostError,
  StaleFenceError,
  StoreAwayError,
  SetupError,
  FenceExhaustedError,
} from './errors.js';
export type { LeaseEvent, LeaseObserver } from './telemetry/lease-events.js';
export { leaseLog } from './telemetry/lease-log.js';
export { systemClock } from './clock.js';
export type { Clock } from './clock.js';
