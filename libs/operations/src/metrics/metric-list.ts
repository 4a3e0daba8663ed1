import { CRON_METRICS, NAMES, type MetricSpec } from './cron-metrics.js';

const type = NAMES;
const timed = { unit: 'seconds', by: 'both', type: 'histogram' } as const;
const counted = { unit: null, by: 'both', type: 'counter' } as const;

/** The metrics of leases, which `@fencepost/lease/metrics` registers; here for the docs, the dashboard and the alerts. */
export const LEASE_METRICS = {
  leaseAcquire: {
    ...{ ...counted, name: 'fencepost_lease_acquire_total', alias: 'redis_lease_acquire_total' },
    help: 'Requests for a lease, by outcome.',
    labels: { resource_type: type, outcome: ['acquired', 'busy', 'error'] },
  },
  leaseRelease: {
    ...{ ...counted, name: 'fencepost_lease_release_total', alias: 'redis_lease_release_total' },
    help: 'Releases, by outcome.',
    labels: { resource_type: type, outcome: ['released', 'stale', 'error'] },
  },
  leaseExtend: {
    ...{ ...counted, name: 'fencepost_lease_extend_total', alias: 'redis_lease_extend_total' },
    help: 'Renewals, by outcome.',
    labels: { resource_type: type, outcome: ['extended', 'refused', 'error'] },
  },
  leaseLost: {
    ...{ ...counted, name: 'fencepost_lease_lost_total', alias: 'redis_lease_lost_total' },
    help: 'Leases lost before their holder released them.',
    labels: { resource_type: type, reason: NAMES },
  },
  leaseStaleRelease: {
    ...{ ...counted, name: 'fencepost_lease_stale_release_total', alias: 'redis_lease_stale_release_total' },
    help: 'Releases of a term that had ended in the store.',
    labels: { resource_type: type },
  },
  leaseContention: {
    ...{ ...counted, name: 'fencepost_lease_contention_total', alias: 'redis_lease_contention_total' },
    help: 'Requests for a lease that another holder had.',
    labels: { resource_type: type },
  },
  leaseUnreleased: {
    ...{
      ...counted,
      name: 'fencepost_lease_expired_without_release_total',
      alias: 'redis_lease_expired_without_release_total',
    },
    help: 'Terms that ended without a release in time.',
    labels: { resource_type: type },
  },
  leaseRejected: {
    ...{ ...counted, name: 'fencepost_lease_fencing_rejected_total', alias: 'redis_lease_fencing_rejected_total' },
    help: 'Writes that a downstream system refused because of their fence.',
    labels: { resource_type: type, downstream: NAMES },
  },
  leaseDuration: {
    ...{ ...timed, name: 'fencepost_lease_acquire_duration_seconds', alias: 'redis_lease_acquire_latency_ms' },
    help: 'Seconds until a request for a lease was answered or abandoned.',
    labels: { resource_type: type, outcome: ['acquired', 'busy', 'error'] },
  },
  leaseHoldTime: {
    ...{ ...timed, name: 'fencepost_lease_hold_time_seconds', alias: 'redis_lease_hold_time_ms' },
    help: 'Seconds from the request for a lease to its release or loss.',
    labels: { resource_type: type },
  },
  leaseHeldSince: {
    ...{ name: 'fencepost_lease_held_since_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'both' },
    help: 'When this process acquired its leases, Unix time: the 20 oldest of those held for a minute or longer.',
    labels: { resource_type: type, resource: NAMES },
  },
  leaseOverBudget: {
    ...{ name: 'fencepost_lease_held_over_budget', type: 'gauge', unit: null, by: 'both' },
    help: 'Leases that this process holds for longer than their maxHold, or else ten times their ttl.',
    labels: { resource_type: type },
  },
  nodeHealth: {
    ...{ name: 'fencepost_lease_node_health', alias: 'redis_node_health', type: 'gauge', unit: null, by: 'quorum' },
    help: '1 while a quorum node is asked, 0 while it is left out because it fails.',
    labels: { node: NAMES },
  },
} as const satisfies Record<string, MetricSpec>;

/**
 * Every metric there is. What registers them, `docs/metrics.md`, the dashboard and the alerts in `ops/` are made from it, so that
 * none of them can name one that isn't there.
 */
export const METRICS = { ...CRON_METRICS, ...LEASE_METRICS };
