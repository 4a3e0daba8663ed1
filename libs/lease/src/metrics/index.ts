export { leaseMetrics } from './lease-metrics.js';
export type { LeaseMetricsOptions } from './lease-metrics.js';
export type { MetricsRegistry } from './instruments.js';
