import type { Clock } from '../base/clock.js';
import type { LeaseStore, StopWatching } from '../store/lease-store.js';

/** The first waiter opens one connection; a waiter soon afterwards finds it open. */
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
 * The store's announcements of releases, for all who wait in this process: one watch, opened by the first of them and closed
 * a second after the last. Nothing relies on it, so whatever goes wrong with it is no failure.
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

  /** Closes the watch; who still waits goes on without hints. */
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
