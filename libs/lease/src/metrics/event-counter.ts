import type { LossReason } from '../base/errors.js';
import { LostTerms, type AcquireOutcome, type LeaseEvent, type EndOfTerm } from '../telemetry/lease-events.js';
import type { Instruments } from './instruments.js';

/** How a value of an event becomes one of a bounded number of labels. */
export interface Labels {
  readonly type: (resource: string) => string;
  readonly downstream: (downstream: string) => string;
  readonly node: (node: string) => string;
}

/** Which event counts where. */
export class EventCounter {
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
        return this.#count.nodeHealth.set({ node: this.#labels.node(event.node) }, event.healthy ? 1 : 0);
      // Sentences for an operator; their count means nothing.
      case 'lease.ttl-unfit':
      case 'store.warning':
    }
  }

  #asked(outcome: AcquireOutcome, { resource, tookMs }: { readonly resource: string; readonly tookMs: number }): void {
    const resource_type = this.#labels.type(resource);
    this.#count.acquire.inc({ resource_type, outcome });
    this.#count.acquireLatency.observe({ outcome }, tookMs);
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
