import type { LeaseEvent, LeaseObserver } from '@fencepost/lease';

/**
 * What the leases of this process tell, for whoever asks later: the leases are opened before anybody who counts is there.
 */
export class LeaseFeed {
  readonly #observers = new Set<LeaseObserver>();

  /** @returns a function that ends the listening */
  listen(observer: LeaseObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** The same of a lease on a cron: a type of its own, whatever the cron is called. */
  readonly tellOfCron = (event: LeaseEvent): void => {
    this.tell('resource' in event ? { ...event, resource: `cron:${event.resource}` } : event);
  };

  /** One that throws harms no lease: whoever calls this sees to that. */
  readonly tell = (event: LeaseEvent): void => {
    for (const observe of this.#observers) observe(event);
  };
}
