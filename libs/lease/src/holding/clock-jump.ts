import type { Clock } from '../base/clock.js';

const TOLERANCE_MS = 2_000;

/**
 * Notices that this machine slept: the monotonic clock stands still meanwhile, so every deadline on it lies too late, and
 * only the wall clock shows what happened. A corrected wall clock looks the same, and stepping down for nothing is safe.
 */
export class ClockJump {
  readonly #clock: Clock;
  #apart: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#apart = this.#distance(clock.monotonic());
  }

  /** Whether the two clocks moved apart by more than 2 s since the last look. */
  look(monotonicNow: number): boolean {
    const before = this.#apart;
    this.#apart = this.#distance(monotonicNow);
    return Math.abs(this.#apart - before) > TOLERANCE_MS;
  }

  #distance(monotonicNow: number): number {
    return this.#clock.now() - monotonicNow;
  }
}
