import type { CancelTimer, Clock } from '../base/clock.js';

/** What decides when a server that was reached may vote. */
export interface Boot {
  /** As INFO reports it. */
  readonly uptimeSeconds: number;
  /** Whether it wrote to disk all that it ever acknowledged, so that a restart forgets nothing. */
  readonly keepsWrites: boolean;
}

/**
 * After how many milliseconds a server may vote, counted from now.
 *
 * A node that restarted without its last writes may have forgotten a term that still runs, and its vote would make a second
 * majority. After the longest ttl every such term is over ("delayed restarts" on Redis' distributed-lock page).
 */
export function votesInMs({ uptimeSeconds, keepsWrites }: Boot, longestTtlMs: number): number {
  if (keepsWrites) return 0;
  // The difference of two times that were cut to seconds: up to one more than it was.
  return Math.max(0, longestTtlMs - Math.max(0, uptimeSeconds - 1) * 1_000);
}

/**
 * Lets calls through to one node, or says why not.
 *
 * Closed with every connection that ends. A connection belongs to one boot of its server, so what was found out when it began
 * holds for as long as it lasts, and no call has to ask again.
 */
export class QuorumGate {
  readonly #clock: Clock;
  #closed: string | undefined = 'not connected yet';
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(because: string): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#closed = because;
  }

  openIn(delayMs: number, because: string): void {
    this.close(because);
    if (delayMs === 0) this.#open();
    else this.#cancel = this.#clock.after(delayMs, () => this.#open());
  }

  /** Makes the call, or rejects while it is closed. */
  pass<T>(call: () => Promise<T>): Promise<T> {
    return this.#closed === undefined ? call() : Promise.reject(new Error(this.#closed));
  }

  #open(): void {
    this.#cancel = undefined;
    this.#closed = undefined;
  }
}
