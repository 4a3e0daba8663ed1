import type { LeaseEvent, LeaseObserver } from '@fencepost/lease';
import { hashResource } from '@fencepost/lease/internal';
import type { Telemetry } from './telemetry.js';

/**
 * Passes on the lease events of this process: leases are opened before metrics are set up, which listen later.
 */
export class LeaseFeed {
  readonly #observers = new Set<LeaseObserver>();

  /** @returns a function that ends the listening */
  listen(observer: LeaseObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** The same for the lease of a cron: gives its resource a type, whatever the name of the cron. */
  readonly tellOfCron = (event: LeaseEvent): void => {
    this.tell('resource' in event ? { ...event, resource: `cron:${event.resource}` } : event);
  };

  /** An observer that throws harms no lease: the caller handles it. */
  readonly tell = (event: LeaseEvent): void => {
    for (const observe of this.#observers) observe(event);
  };
}

/** Warnings of leases as events, so that the journal has those of all pods. */
export function leaseWarnings(telemetry: Telemetry): LeaseObserver {
  return (event) => {
    if (event.name === 'store.warning') {
      telemetry.emit('store.warning', { code: event.code, found: event.message });
    } else if (event.name === 'lease.ttl-unfit') {
      const { resource, verdict, ttlMs, advisedTtlMs } = event;
      // A type comes from the code; a name may contain customer data.
      const about = resource.endsWith(':*') ? resource : hashResource(resource);
      telemetry.emit('lease.ttl-unfit', { about, verdict, ttlMs, advisedTtlMs });
    }
  };
}
