import type { Clock } from '../base/clock.js';
import { isFinal } from '../base/errors.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';

export interface NodeHealthOptions {
  readonly node: string;
  readonly clock: Clock;
  /** From 0 up to 1. Spreads the trials of many pods after a shared outage. */
  readonly random: () => number;
  readonly observe: LeaseObserver;
}

/** One lost reply is an accident; three in a row have cost three timeouts. */
const MAX_FAILURES_IN_A_ROW = 3;
const PAUSE_MS = 1_000;

/**
 * A circuit breaker: leaves a node out while it only fails, so that not every call waits for its timeout.
 *
 * After three failures in a row calls fail at once. Half a second to a second later one call is let through as a trial, and
 * its outcome decides. A refusal counts as an answer. The pause is measured on the monotonic clock: after a step back of the
 * wall clock the node would be left out for as long. It runs no call itself, because every node is asked for every lease,
 * and a promise around each call would cost more than sending it.
 */
export class NodeHealth {
  readonly #options: NodeHealthOptions;
  #failuresInARow = 0;
  #onTrial = false;
  #tryAgainAt = 0;
  #healthy: boolean | undefined;
  #leftOut = new Error('left out for now');

  constructor(options: NodeHealthOptions) {
    this.#options = options;
  }

  /**
   * Admits a call, whose caller reports its outcome to `answered` or `failed`.
   * @returns why the node may not be asked now, `undefined` when it may
   */
  admit(): Error | undefined {
    if (this.#failuresInARow < MAX_FAILURES_IN_A_ROW) return undefined;
    // Others don't wait for the outcome of the trial.
    if (this.#onTrial || this.#options.clock.monotonic() < this.#tryAgainAt) return this.#leftOut;
    this.#onTrial = true;
    return undefined;
  }

  answered(): void {
    this.#failuresInARow = 0;
    this.#onTrial = false;
    if (this.#healthy !== true) this.#notify(true);
  }

  failed(error: unknown): void {
    if (isRefusal(error)) return this.answered();
    this.#failuresInARow += 1;
    if (this.#failuresInARow < MAX_FAILURES_IN_A_ROW) return;
    this.#onTrial = false;
    const { clock, random } = this.#options;
    this.#tryAgainAt = clock.monotonic() + PAUSE_MS * (0.5 + random() / 2);
    const because = error instanceof Error ? error.message : String(error);
    // Made once, not for each call that is refused: its stack trace is the dearest part of it.
    this.#leftOut = new Error(`left out for now, because: ${because}`);
    if (this.#healthy !== false) this.#notify(false, because);
  }

  #notify(healthy: boolean, because?: string): void {
    this.#healthy = healthy;
    const { node, observe } = this.#options;
    observe({ name: 'node.health', node, healthy, ...(because === undefined ? {} : { because }) });
  }
}

/** Whether the node understood the request and refused it: an exhausted fence, an invalid argument. */
export function isRefusal(error: unknown): boolean {
  return isFinal(error) || error instanceof RangeError;
}
