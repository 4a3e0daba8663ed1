import { Counter, Gauge, Histogram } from 'prom-client';
import type { OpenMetricsContentType, Registry } from 'prom-client';
import type { Clock } from '../base/clock.js';
import { hashResource } from '../base/identity.js';
import type { HeldTerms } from './held-terms.js';

export type MetricsRegistry = Registry | Registry<OpenMetricsContentType>;

export type Instruments = ReturnType<typeof instruments>;

/** Milliseconds. A store nearby answers within one; a command is given up after a second or a few. */
const LATENCY_MS = [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

/** Milliseconds. From a cache entry that is rebuilt to a job of an hour, in the steps in which people choose a ttl. */
const HOLD_MS = [10, 50, 100, 300, 1_000, 3_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];

/**
 * The metrics. One that the registry already has is reused: two modules of one process count together.
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

function counters(registry: MetricsRegistry) {
  return <L extends string>(suffix: string, help: string, labelNames: readonly L[]): Counter<L> => {
    const name = `redis_lease_${suffix}`;
    const known = registry.getSingleMetric<L>(name);
    return known instanceof Counter ? known : new Counter({ name, help, labelNames, registers: [registry] });
  };
}

function distributions(registry: MetricsRegistry) {
  return {
    acquireLatency: histogram(registry, {
      name: 'redis_lease_acquire_latency_ms',
      help: 'Milliseconds until a request for a lease was answered or abandoned.',
      labelNames: ['resource_type'],
      buckets: LATENCY_MS,
    }),
    acquireDuration: histogram(registry, {
      name: 'redis_lease_acquire_duration_seconds',
      help: 'Seconds until a request for a lease was answered or abandoned, by outcome.',
      labelNames: ['outcome'],
      buckets: LATENCY_MS.map((ms) => ms / 1_000),
    }),
    holdTime: histogram(registry, {
      name: 'redis_lease_hold_time_ms',
      help: 'Milliseconds from the request for a lease to its release or loss.',
      labelNames: ['resource_type'],
      buckets: HOLD_MS,
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

export interface HeldSource {
  readonly held: HeldTerms;
  readonly clock: Clock;
  readonly typeOf: (resource: string) => string;
}

/** Counted when they are asked for; the first to register them in a registry counts for all. */
export function heldGauges(registry: MetricsRegistry, { held, clock, typeOf }: HeldSource): void {
  computed(registry, {
    name: 'redis_lease_held_since_timestamp_seconds',
    help: 'When this process acquired its leases, Unix time: the 20 oldest of those held for a minute or longer.',
    labelNames: ['resource_type', 'resource'],
    fill: (gauge) => {
      for (const { resource, since } of held.oldest(clock.now())) {
        gauge.set({ resource_type: typeOf(resource), resource: hashResource(resource) }, since / 1_000);
      }
    },
  });
  computed(registry, {
    name: 'redis_lease_held_over_budget',
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
function nodeHealth(registry: MetricsRegistry): Gauge<'node'> {
  const name = 'redis_node_health';
  const help = '1 while a quorum node is asked, 0 while it is left out because it fails.';
  const known = registry.getSingleMetric<'node'>(name);
  return known instanceof Gauge ? known : new Gauge({ name, help, labelNames: ['node'], registers: [registry] });
}
