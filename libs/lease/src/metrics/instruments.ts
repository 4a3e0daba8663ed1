import { Counter, Gauge, Histogram } from 'prom-client';
import type { LabelValues, OpenMetricsContentType, Registry } from 'prom-client';
import type { Clock } from '../base/clock.js';
import type { LossReason } from '../base/errors.js';
import { hashResource } from '../base/identity.js';
import type { HeldTerms } from './held-terms.js';

export type MetricsRegistry = Registry | Registry<OpenMetricsContentType>;

export type Instruments = ReturnType<typeof instruments>;

/** Seconds. A store nearby answers within one thousandth; a command is given up after a second or a few. */
const LATENCY_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Seconds. From a cache entry that is rebuilt to a job of an hour, in the steps in which people choose a ttl. */
const HOLD_S = [0.01, 0.05, 0.1, 0.3, 1, 3, 10, 30, 60, 300, 900, 3_600];

const [OURS, ALIAS] = ['fencepost_lease', 'redis_lease'];

const REASONS: readonly LossReason[] = ['refused', 'expired', 'clock-jump', 'max-hold'];

/**
 * The metrics, each also under its older name, `redis_lease_…`. One that the registry already has is reused: two modules of one
 * process count together.
 * @throws {Error} of prom-client, when the registry has another kind of metric under one of these names
 */
export function instruments(registry: MetricsRegistry) {
  const counter = counters(registry);
  return {
    acquire: counter('acquire_total', 'Requests for a lease, by outcome.', ['resource_type', 'outcome']),
    release: counter('release_total', 'Releases, by outcome.', ['resource_type', 'outcome']),
    extend: counter('extend_total', 'Renewals, by outcome.', ['resource_type', 'outcome']),
    lost: counter('lost_total', 'Leases lost before their holder released them.', ['resource_type', 'reason']),
    staleRelease: counter('stale_release_total', 'Releases of a term that had ended in the store.', ['resource_type']),
    contention: counter('contention_total', 'Requests for a lease that another holder had.', ['resource_type']),
    unreleased: counter('expired_without_release_total', 'Terms that ended without a release in time.', [
      'resource_type',
    ]),
    rejected: counter('fencing_rejected_total', 'Writes that a downstream system refused because of their fence.', [
      'resource_type',
      'downstream',
    ]),
    ...distributions(registry),
    nodeHealth: () => nodeHealth(registry),
  };
}

/**
 * Shows the counters of a type from 0 on, with its first event: to Prometheus an increase from nothing to 1 is none, and the
 * first lease of a type that is lost would ring no alert.
 */
export function showZeros(count: Instruments, resource_type: string): void {
  for (const outcome of ['acquired', 'busy', 'error']) count.acquire.inc({ resource_type, outcome }, 0);
  for (const outcome of ['released', 'stale', 'error']) count.release.inc({ resource_type, outcome }, 0);
  for (const outcome of ['extended', 'refused', 'error']) count.extend.inc({ resource_type, outcome }, 0);
  for (const reason of REASONS) count.lost.inc({ resource_type, reason }, 0);
  for (const counter of [count.staleRelease, count.contention, count.unreleased]) counter.inc({ resource_type }, 0);
}

function counters(registry: MetricsRegistry) {
  return <L extends string>(suffix: string, help: string, labelNames: readonly L[]) => {
    const both = [OURS, ALIAS].map((prefix) => {
      const name = `${prefix}_${suffix}`;
      const known = registry.getSingleMetric<L>(name);
      return known instanceof Counter ? known : new Counter({ name, help, labelNames, registers: [registry] });
    });
    return {
      inc(labels: LabelValues<L>, by = 1) {
        for (const counter of both) counter.inc(labels, by);
      },
    };
  };
}

function distributions(registry: MetricsRegistry) {
  return {
    acquireDuration: inSecondsAndMs(registry, {
      name: 'acquire_duration_seconds',
      alias: 'acquire_latency_ms',
      help: 'until a request for a lease was answered or abandoned',
      labelNames: ['resource_type', 'outcome'],
      buckets: LATENCY_S,
    }),
    holdTime: inSecondsAndMs(registry, {
      name: 'hold_time_seconds',
      alias: 'hold_time_ms',
      help: 'from the request for a lease to its release or loss',
      labelNames: ['resource_type'],
      buckets: HOLD_S,
    }),
  };
}

interface HistogramShape<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly buckets: number[];
}

function histogram<L extends string>(registry: MetricsRegistry, shape: HistogramShape<L>): Histogram<L> {
  const known = registry.getSingleMetric<L>(shape.name);
  return known instanceof Histogram ? known : new Histogram({ ...shape, registers: [registry] });
}

/** The older name has milliseconds, and no label but the type. */
function inSecondsAndMs<L extends 'resource_type' | 'outcome'>(
  registry: MetricsRegistry,
  { name, alias, help, labelNames, buckets }: HistogramShape<L> & { readonly alias: string },
) {
  const seconds = histogram(registry, { name: `${OURS}_${name}`, help: `Seconds ${help}.`, labelNames, buckets });
  const ms = histogram(registry, {
    ...{ name: `${ALIAS}_${alias}`, help: `Milliseconds ${help}.`, labelNames: ['resource_type'] },
    buckets: buckets.map((bucket) => bucket * 1_000),
  });
  return {
    observe(labels: Record<L, string> & { readonly resource_type: string }, tookMs: number) {
      seconds.observe(labels, tookMs / 1_000);
      ms.observe({ resource_type: labels.resource_type }, tookMs);
    },
  };
}

export interface HeldSource {
  readonly held: HeldTerms;
  readonly clock: Clock;
  readonly typeOf: (resource: string) => string;
}

/** Counted when they are asked for; the first to register them in a registry counts for all. */
export function heldGauges(registry: MetricsRegistry, { held, clock, typeOf }: HeldSource): void {
  computed(registry, {
    name: 'fencepost_lease_held_since_timestamp_seconds',
    help: 'When this process acquired its leases, Unix time: the 20 oldest of those held for a minute or longer.',
    labelNames: ['resource_type', 'resource'],
    fill: (gauge) => {
      for (const { resource, since } of held.oldest(clock.now())) {
        gauge.set({ resource_type: typeOf(resource), resource: hashResource(resource) }, since / 1_000);
      }
    },
  });
  computed(registry, {
    name: 'fencepost_lease_held_over_budget',
    help: 'Leases that this process holds for longer than their maxHold, or else ten times their ttl.',
    labelNames: ['resource_type'],
    fill: (gauge) => {
      for (const { resource } of held.overBudget(clock.now())) gauge.inc({ resource_type: typeOf(resource) });
    },
  });
}

interface Computed<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly fill: (gauge: Gauge<L>) => void;
}

/** A gauge whose series are made anew for each scrape: what is over has none. */
function computed<L extends string>(registry: MetricsRegistry, { fill, ...shape }: Computed<L>): void {
  if (registry.getSingleMetric(shape.name) instanceof Gauge) return;
  const gauge: Gauge<L> = new Gauge({
    ...shape,
    registers: [registry],
    collect: () => {
      gauge.reset();
      fill(gauge);
    },
  });
}

/** Registered by the first server of a quorum that is heard of: without one the metric isn't there. */
function nodeHealth(registry: MetricsRegistry) {
  const help = '1 while a quorum node is asked, 0 while it is left out because it fails.';
  const both = [`${OURS}_node_health`, 'redis_node_health'].map((name) => {
    const known = registry.getSingleMetric<'node'>(name);
    return known instanceof Gauge ? known : new Gauge({ name, help, labelNames: ['node'], registers: [registry] });
  });
  return {
    set(node: string, healthy: boolean) {
      for (const gauge of both) gauge.set({ node }, healthy ? 1 : 0);
    },
  };
}
