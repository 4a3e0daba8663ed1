import { CircuitState, ConsecutiveBreaker } from 'cockatiel';
import type { Clock } from '../base/clock.js';
import { isFinal } from '../base/errors.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';

export interface NodeHealthOptions {
  readonly node: string;
  readonly clock: Clock;
  /** From 0 up to 1. Spreads the trials of many pods after an outage they share. */
  readonly random: () => number;
  readonly observe: LeaseObserver;
}

/** One lost reply is an accident; three in a row cost three timeouts, and then the node is left out. */
const FAILURES_TO_OPEN = 3;
const PAUSE_MS = 1_000;

/**
 * A circuit breaker: leaves a node out while it only fails, so that not every call waits for its timeout.
 *
 * After three failures in a row calls fail at once. A second later, half of it jittered, one call is let through; what
 * comes of it decides. An answer is no failure, whether it says yes or no.
 *
 * When it opens is the library's to say. When it tries again is not: cockatiel's policy measures that pause by the wall
 * clock, and a step back would leave a node out for as long. And it is told what came of a call and runs none itself,
 * because every node is asked for every lease, and a promise around each of these calls would cost more than sending it.
 */
export class NodeHealth {
  readonly #options: NodeHealthOptions;
  readonly #breaker = new ConsecutiveBreaker(FAILURES_TO_OPEN);
  #state: CircuitState = CircuitState.Closed;
  #tryAgainAt = 0;
  #healthy: boolean | undefined;
  #leftOut = new Error('left out for now');

  constructor(options: NodeHealthOptions) {
    this.#options = options;
  }

  /** Nothing for a call that may go there, and whoever makes it says what came of it; else why it may not. */
  admit(): Error | undefined {
    if (this.#state === CircuitState.Closed) return undefined;
    // While one call is the trial, all others would wait for it.
    const isOnTrial = this.#state === CircuitState.HalfOpen;
    if (isOnTrial || this.#options.clock.monotonic() < this.#tryAgainAt) return this.#leftOut;
    this.#state = CircuitState.HalfOpen;
    return undefined;
  }

  answered(): void {
    this.#breaker.success();
    this.#state = CircuitState.Closed;
    if (this.#healthy !== true) this.#tell(true);
  }

  failed(error: unknown): void {
    if (isRefusal(error)) return this.answered();
    if (!this.#breaker.failure()) return;
    this.#state = CircuitState.Open;
    const { clock, random } = this.#options;
    this.#tryAgainAt = clock.monotonic() + PAUSE_MS * (0.5 + random() / 2);
    const because = error instanceof Error ? error.message : String(error);
    // Made once, not for each call that is refused: its stack trace is the dearest part of it.
    this.#leftOut = new Error(`left out for now, because: ${because}`);
    if (this.#healthy !== false) this.#tell(false, because);
  }

  #tell(healthy: boolean, because?: string): void {
    this.#healthy = healthy;
    const { node, observe } = this.#options;
    observe({ name: 'node.health', node, healthy, ...(because === undefined ? {} : { because }) });
  }
}

/** What a node refuses by name it has understood: a fence that is exhausted, a request that can't be. */
export function isRefusal(error: unknown): boolean {
  return isFinal(error) || error instanceof RangeError;
}
