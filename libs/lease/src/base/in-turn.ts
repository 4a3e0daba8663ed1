import { sleep } from './clock.js';
import type { Clock } from './clock.js';

export interface InTurnOptions {
  readonly servers: number;
  readonly clock: Clock;
  /** How long a call takes at most, over all servers and attempts. */
  readonly timeoutMs: number;
  /** Whether another server, or the same one later, may succeed. */
  readonly isPassing: (error: unknown) => boolean;
  /** What a call is rejected with when its time is up. */
  readonly late: () => Error;
  /** Called when another server is preferred from now on. */
  readonly onMoveOn?: () => void;
}

/** An election takes about a second, without a leader meanwhile. */
const PAUSE_MS = 50;

/** Asks one of several servers: the same one until it fails, and then the next one. */
export class InTurn {
  readonly #options: InTurnOptions;
  #preferred = 0;

  constructor(options: InTurnOptions) {
    this.#options = options;
  }

  /**
   * Lets `flow` ask one server, and all of it another one when that fails, until the time is up.
   *
   * Whatever was asked may have been done although no answer came, and may still be done later: a flow has to be one that
   * can begin anew, and compares before it writes.
   * @param flow gets the server's place, and a signal that aborts when the call is over
   */
  async ask<T>(flow: (server: number, over: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    const over = new AbortController();
    const end = () => over.abort();
    const cancel = clock.after(timeoutMs, end);
    try {
      return await Promise.race([this.#tryInTurn(flow, over.signal), this.#lateness(over.signal)]);
    } finally {
      cancel();
      end();
    }
  }

  async #tryInTurn<T>(flow: (server: number, over: AbortSignal) => Promise<T>, over: AbortSignal): Promise<T> {
    const { servers, clock, isPassing } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const server = this.#preferred;
      try {
        return await flow(server, over);
      } catch (error) {
        if (!isPassing(error) || over.aborted) throw error;
        this.#moveOn(server);
        if (attempt % servers === 0) await sleep(clock, PAUSE_MS, over);
        if (over.aborted) throw error;
      }
    }
  }

  #lateness(over: AbortSignal): Promise<never> {
    return new Promise((_, reject) => over.addEventListener('abort', () => reject(this.#options.late())));
  }

  /** Of many calls that fail at once the first one moves on, or two would come back to where they were. */
  #moveOn(failed: number): void {
    if (this.#preferred !== failed) return;
    this.#preferred = (failed + 1) % this.#options.servers;
    this.#options.onMoveOn?.();
  }
}
