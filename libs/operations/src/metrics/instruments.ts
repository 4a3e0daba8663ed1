import { SetupError } from '@fencepost/lease';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { MetricsRegistry } from '@fencepost/lease/metrics';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { CronLabels } from './cron-labels.js';
import { CATALOG_CHANGES, CATALOG_CONFLICTS, CRON_METRICS } from './cron-metrics.js';
import type { MetricSpec } from './cron-metrics.js';

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
  /** Awaited before a gauge or a counter is shown. */
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
    throw new SetupError(`The metrics registry already has "${name}". Give each JobsModule a registry of its own.`);
  }
  const about = { name, help, labelNames: Object.keys(spec.labels), registers: [registry] };
  // Before it is shown, so that its series are there with the first scrape.
  if (type === 'counter') return new Counter({ ...about, collect: look });
  return type === 'gauge' ? new Gauge({ ...about, collect: look }) : new Histogram({ ...about, buckets: [...buckets] });
}

/**
 * Shows the counters of these crons, and those that are about no cron, from 0 on: an increase from nothing to 1 is none to
 * Prometheus, and the first failure of a process would ring no alert.
 * @param by whose metrics: those of a role that the process doesn't have would only be more series
 */
export function showZeros(all: Instruments, crons: readonly string[], by: ReadonlySet<MetricSpec['by']>): void {
  for (const [key, spec] of Object.entries(CRON_METRICS) as [CronMetricName, MetricSpec][]) {
    const counter = all[key];
    if (!(counter instanceof Counter) || !by.has(spec.by) || isUnlisted(spec)) continue;
    const named = 'cron' in spec.labels ? crons.map((cron) => ({ cron })) : [{}];
    for (const labels of combinations(spec)) for (const one of named) counter.inc({ ...labels, ...one }, 0);
  }
}

/** Shows the counters of an app from 0 on, for the same reason. */
export function showApp({ catalogChanges, catalogConflicts }: Instruments, app: string): void {
  for (const change of CATALOG_CHANGES) catalogChanges.inc({ app, change }, 0);
  for (const conflict of CATALOG_CONFLICTS) catalogConflicts.inc({ app, conflict }, 0);
}

/**
 * Shows tags, owner and runbook of the crons that are told apart, so that alerts and panels can join by them: a tag as a label of every metric
 * would be ten times as many series, and another one with each change of a tag.
 */
export function showSaid(
  { tagsInfo, cronInfo }: Pick<Instruments, 'tagsInfo' | 'cronInfo'>,
  entries: readonly CatalogEntry[],
  labels: CronLabels,
): void {
  tagsInfo.reset();
  cronInfo.reset();
  for (const { state, definition } of entries) {
    const { name, tags = [], owner = '', runbookUrl = '' } = definition;
    if (state === 'removed' || labels.of(name) !== name) continue;
    for (const tag of tags) tagsInfo.set({ cron: name, tag }, 1);
    if (owner !== '' || runbookUrl !== '') cronInfo.set({ cron: name, owner, runbook_url: runbookUrl }, 1);
  }
}

/** Whether a label other than the cron has values that are not listed: its series begin with the first event. */
function isUnlisted({ labels }: MetricSpec): boolean {
  return Object.entries(labels).some(([label, values]) => values === null && label !== 'cron');
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
