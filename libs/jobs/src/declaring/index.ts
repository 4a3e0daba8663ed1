/* What simulations need of a worker's declarations. Not public: it may change without notice. A scheduler never loads it. */

export { Declarer } from './declarer.js';
export type { DeclarerOptions } from './declarer.js';
export { DECLARE_FULLY_MS, SETTLE_MS } from './standing.js';
export type { DeclaringTiming } from './standing.js';
export { PodReporter } from '../pods/pod-reporter.js';
export { POD_GONE_MS, REPORT_MS } from '../pods/pod-registry.js';
