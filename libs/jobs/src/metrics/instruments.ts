import { SetupError } from '@fencepost/lease';
import type { MetricsRegistry } from '@fencepost/lease/metrics';
import { Counter, Gauge, Histogram } from 'prom-client';
import { CRON_METRICS } from './cron-metrics.js';
import type { MetricSpec } from './metric-spec.js';

interface ByType {
  readonly counter: Counter;
  readonly gauge: Gauge;
  readonly histogram: Histogram;
}

type CronMetricName = keyof typeof CRON_METRICS;

/** One prom-client metric for each entry of the list, under the same key. */
export type Instruments = { readonly [K in CronMetricName]: ByType[(typeof CRON_METRICS)[K]['type']] };

export interface InstrumentsOptions {
  readonly registry: MetricsRegistry;
  /** Awaited before a gauge is shown. */
  readonly look: () => Promise<void>;
}

/**
 * Registers what the list names.
 * @throws {SetupError} when the registry has one of these names already
 */
export function instruments(options: InstrumentsOptions): Instruments {
  const made = Object.entries(CRON_METRICS).map(([key, spec]: [string, MetricSpec]) => [
    key,
    instrument(spec, options),
  ]);
  return Object.fromEntries(made) as Instruments;
}

function instrument(spec: MetricSpec, { registry, look }: InstrumentsOptions): Counter | Gauge | Histogram {
  const { name, help, type, buckets = [] } = spec;
  if (registry.getSingleMetric(name)) {
    throw new SetupError(
      `Expected a registry without "${name}", got one that has it: each JobsModule has metrics in a registry of its own.`,
    );
  }
  const about = { name, help, labelNames: Object.keys(spec.labels), registers: [registry] };
  if (type === 'counter') return new Counter(about);
  return type === 'gauge' ? new Gauge({ ...about, collect: look }) : new Histogram({ ...about, buckets: [...buckets] });
}

/** Takes all series of one cron out. */
export function forgetCron(all: Instruments, cron: string): void {
  for (const [key, spec] of Object.entries(CRON_METRICS) as [CronMetricName, MetricSpec][]) {
    if (!('cron' in spec.labels)) continue;
    for (const labels of combinations(spec)) all[key].remove({ ...labels, cron });
  }
}

/** Every set of values that the other labels can have. */
function combinations({ labels }: MetricSpec): Record<string, string>[] {
  let found: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    if (values !== null) found = found.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
  }
  return found;
}
