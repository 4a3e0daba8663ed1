import { register } from 'prom-client';
import { resourceType } from '../base/resource.js';
import type { LeaseObserver, AcquireOutcome, LeaseEvent, EndOfTerm } from '../telemetry/lease-events.js';
import { systemClock, type Clock } from '../base/clock.js';
import { HeldTerms } from './held-terms.js';
import { heldGauges, instruments, showZeros } from './instruments.js';
import type { MetricsRegistry, Instruments } from './instruments.js';
import type { LossReason } from '../base/errors.js';
import { LostTerms } from '../telemetry/lease-events.js';

export interface LeaseMetricsOptions {
  /** Where the metrics are registered; default: prom-client's own registry. */
  readonly registry?: MetricsRegistry;
  /** How many types of resources have a label of their own, default 100; the rest counts as `other`. */
  readonly typesAtMost?: number;
  /** The type of a resource, for names that aren't `<type>:<id>`. */
  readonly resourceType?: (resource: string) => string;
  /** Types whose leases are held for ever by design, and have no budget; default: `role`, that of elections. */
  readonly heldForEver?: readonly string[];
  readonly clock?: Clock;
}

/** A downstream and a node are parts of a deployment: a person has written their names down. */
const NAMES_AT_MOST = 20;

/** The bound is per registry, shared by all metrics in it. */
const seenIn = new WeakMap<MetricsRegistry, Seen>();

type Seen = Readonly<Record<'types' | 'downstreams' | 'nodes', Set<string>>> & { readonly held: HeldTerms };

/**
 * Counts the events of a keeper for Prometheus. Labels carry the type of a resource and never its id, and take a bounded
 * number of values: there are as many time series as there are types, however many resources there are.
 * @throws {Error} of prom-client, when the registry has another kind of metric under one of the names
 */
export function leaseMetrics(options: LeaseMetricsOptions = {}): LeaseObserver {
  const { registry = register, typesAtMost = 100, resourceType: typeOf = resourceType, clock = systemClock } = options;
  const seen = seenIn.get(registry) ?? {
    ...{ types: new Set(), downstreams: new Set(), nodes: new Set() },
    held: new HeldTerms(),
  };
  seenIn.set(registry, seen);
  const count = instruments(registry);
  const type = boundedLabels(typesAtMost, seen.types, (seenType) => showZeros(count, seenType));
  const forEver = new Set(options.heldForEver ?? ['role']);
  const labels = {
    type: (resource: string) => type(typeOf(resource)),
    downstream: boundedLabels(NAMES_AT_MOST, seen.downstreams),
    node: boundedLabels(NAMES_AT_MOST, seen.nodes),
  };
  heldGauges(registry, { held: seen.held, clock, typeOf: labels.type });
  const counter = new EventCounter(count, labels);
  return (event) => {
    counter.observe(event);
    if ('resource' in event && !forEver.has(typeOf(event.resource))) seen.held.observe(event, clock.now());
  };
}

/** What everything beyond the bound is called. */
const REST = 'other';

/**
 * Lets the first `most` distinct values through and calls the rest `other`. A time series is kept for ever by any system that
 * counts, so a label whose values come from outside would fill the memory of the process and of Prometheus.
 * @param seen shared by all that count in one registry
 * @param onNew called with each value that gets a label of its own
 */
function boundedLabels(max: number, seen: Set<string>, onNew = (_: string) => {}): (value: string) => string {
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= max) return REST;
    seen.add(value);
    onNew(value);
    return value;
  };
}

/** One renewal for all leases of a session, of whatever types they are. */
const OF_SESSION = { resource_type: 'pod-session' } as const;

/** How a value of an event becomes one of a bounded number of labels. */
interface Labels {
  readonly type: (resource: string) => string;
  readonly downstream: (downstream: string) => string;
  readonly node: (node: string) => string;
}

/** Which event counts where. */
class EventCounter {
  readonly #count: Instruments;
  readonly #labels: Labels;
  readonly #lost = new LostTerms();

  constructor(count: Instruments, labels: Labels) {
    this.#count = count;
    this.#labels = labels;
  }

  observe(event: LeaseEvent): void {
    switch (event.name) {
      case 'lease.acquired':
        return this.#asked('acquired', event);
      case 'lease.busy':
        return this.#asked('busy', event);
      case 'lease.acquire-failed':
        return this.#asked('error', event);
      case 'lease.extended':
        return this.#extended('extended', event.resource);
      case 'lease.extend-failed':
        return this.#extended('error', event.resource);
      case 'session.extended':
        return this.#count.extend.inc({ ...OF_SESSION, outcome: 'extended' });
      case 'session.extend-failed':
        return this.#count.extend.inc({ ...OF_SESSION, outcome: 'error' });
      case 'lease.lost':
        return this.#gone(event);
      case 'lease.released':
        return this.#released('released', event);
      case 'lease.stale-release':
        return this.#released('stale', event);
      case 'lease.release-failed':
        return this.#released('error', event);
      case 'fence.rejected':
        return this.#rejected(event.resource, event.downstream);
      case 'node.health':
        return this.#count.nodeHealth().set(this.#labels.node(event.node), event.healthy);
      // The renewal was counted. And sentences for an operator; their count means nothing.
      case 'lease.ttl-changed':
      case 'lease.ttl-unfit':
      case 'store.warning':
    }
  }

  #asked(outcome: AcquireOutcome, { resource, tookMs }: { readonly resource: string; readonly tookMs: number }): void {
    const resource_type = this.#labels.type(resource);
    this.#count.acquire.inc({ resource_type, outcome });
    this.#count.acquireDuration.observe({ resource_type, outcome }, tookMs);
    if (outcome === 'busy') this.#count.contention.inc({ resource_type });
  }

  #extended(outcome: 'extended' | 'refused' | 'error', resource: string): void {
    this.#count.extend.inc({ resource_type: this.#labels.type(resource), outcome });
  }

  #gone(event: EndOfTerm & { readonly reason: LossReason }): void {
    const { resource, reason } = event;
    this.#count.lost.inc({ resource_type: this.#labels.type(resource), reason });
    if (reason === 'refused') this.#extended('refused', resource);
    this.#ended(event, false);
  }

  #released(outcome: 'released' | 'stale' | 'error', event: EndOfTerm): void {
    const resource_type = this.#labels.type(event.resource);
    this.#count.release.inc({ resource_type, outcome });
    if (outcome === 'stale') this.#count.staleRelease.inc({ resource_type });
    this.#ended(event, outcome === 'released');
  }

  #ended(event: EndOfTerm, inTime: boolean): void {
    if (!this.#lost.isFirstEnd(event)) return;
    const resource_type = this.#labels.type(event.resource);
    this.#count.holdTime.observe({ resource_type }, event.heldMs);
    if (!inTime) this.#count.unreleased.inc({ resource_type });
  }

  #rejected(resource: string, downstream: string): void {
    const labels = { resource_type: this.#labels.type(resource), downstream: this.#labels.downstream(downstream) };
    this.#count.rejected.inc(labels);
  }
}
