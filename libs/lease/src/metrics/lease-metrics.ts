import { register } from 'prom-client';
import { resourceType } from '../base/resource.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { EventCounter } from './event-counter.js';
import { instruments } from './instruments.js';
import type { MetricsRegistry } from './instruments.js';

export interface LeaseMetricsOptions {
  /** Where the metrics are registered; default: prom-client's own registry. */
  readonly registry?: MetricsRegistry;
  /** How many types of resources have a label of their own, default 100; the rest counts as `other`. */
  readonly typesAtMost?: number;
  /** The type of a resource, for names that aren't `<type>:<id>`. */
  readonly resourceType?: (resource: string) => string;
}

/** A downstream and a node are parts of a deployment: a person has written their names down. */
const NAMES_AT_MOST = 20;

/** The bound is per registry, shared by all metrics in it. */
const seenIn = new WeakMap<MetricsRegistry, Readonly<Record<'types' | 'downstreams' | 'nodes', Set<string>>>>();

/**
 * Counts the events of a keeper for Prometheus. Labels carry the type of a resource and never its id, and take a bounded
 * number of values: there are as many time series as there are types, however many resources there are.
 * @throws {Error} of prom-client, when the registry has another kind of metric under one of the names
 */
export function leaseMetrics(options: LeaseMetricsOptions = {}): LeaseObserver {
  const { registry = register, typesAtMost = 100, resourceType: typeOf = resourceType } = options;
  const seen = seenIn.get(registry) ?? { types: new Set(), downstreams: new Set(), nodes: new Set() };
  seenIn.set(registry, seen);
  const type = boundedLabels(typesAtMost, seen.types);
  const counter = new EventCounter(instruments(registry), {
    type: (resource) => type(typeOf(resource)),
    downstream: boundedLabels(NAMES_AT_MOST, seen.downstreams),
    node: boundedLabels(NAMES_AT_MOST, seen.nodes),
  });
  return (event) => counter.observe(event);
}

/** What everything beyond the bound is called. */
const REST = 'other';

/**
 * Lets the first `most` distinct values through and calls the rest `other`. A time series is kept for ever by any system that
 * counts, so a label whose values come from outside would fill the memory of the process and of Prometheus.
 * @param seen shared by all that count in one registry
 */
function boundedLabels(max: number, seen: Set<string>): (value: string) => string {
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= max) return REST;
    seen.add(value);
    return value;
  };
}
