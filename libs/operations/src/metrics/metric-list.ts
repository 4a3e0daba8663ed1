import { CRON_METRICS } from './cron-metrics.js';
import { LEASE_METRICS } from './lease-metric-list.js';

/**
 * Every metric there is. What registers them, `docs/metrics.md`, the dashboard and the alerts in `ops/` are made from it, so that
 * none of them can name one that isn't there.
 */
export const METRICS = { ...CRON_METRICS, ...LEASE_METRICS };
