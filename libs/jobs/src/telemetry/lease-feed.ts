import type { LeaseEvent, LeaseObserver } from '@fencepost/lease';

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
