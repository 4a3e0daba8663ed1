export { CRON_METRICS } from './cron-metrics.js';
export { DEFAULT_CRONS } from './cron-labels.js';
export type { CronsTold } from './cron-labels.js';
export { LEASE_METRICS, METRICS } from './metric-list.js';
export type { LabelValues, MetricSpec } from './cron-metrics.js';
export { JobsMetrics, MetricsModule } from './metrics.module.js';
export type { MetricsOptions } from './metrics.module.js';
