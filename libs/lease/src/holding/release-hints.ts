import type { Clock } from '../base/clock.js';
import type { LeaseStore, StopWatching } from '../store/lease-store.js';

/** A waiter soon after the last one finds the connection still open. */
const LINGER_MS = 1_000;

interface Listener {
  readonly resources: readonly string[];
  wake: AbortController;
}

/** An announced release, as a waiter receives it. */
export interface Listening {
  /** Aborts at the next release of one of the resources. */
  readonly released: AbortSignal;
  /** Arms `released` anew. */
  again(): void;
  stop(): void;
}

/**
 * Announcements of releases, for all waiters of this process: one watch, opened by the first waiter and closed
 * a second after the last. A hint: its failures are ignored.
 */
export class ReleaseHints {
  readonly #store: LeaseStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #watch: Promise<StopWatching | undefined> | undefined;
  #cancelLinger: () => void = () => {};

  constructor(store: LeaseStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  listen(resources: readonly string[]): Listening {
    const listener: Listener = { resources, wake: new AbortController() };
    this.#listeners.add(listener);
    this.#cancelLinger();
    this.#watch ??= this.#store.watchReleases((resource) => this.#heard(resource)).catch(() => undefined);
    return {
      get released() {
        return listener.wake.signal;
      },
      again: () => {
        listener.wake = new AbortController();
      },
      stop: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#cancelLinger = this.#clock.after(LINGER_MS, () => void this.close());
      },
    };
  }

  /** Closes the watch; remaining waiters continue without hints. */
  async close(): Promise<void> {
    this.#cancelLinger();
    const watch = this.#watch;
    this.#watch = undefined;
    const stop = await watch;
    await stop?.().catch(() => {});
  }

  #heard(resource: string): void {
    for (const { resources, wake } of this.#listeners) if (resources.includes(resource)) wake.abort();
  }
}
