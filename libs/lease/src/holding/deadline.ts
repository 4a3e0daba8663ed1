import type { Clock, Timer } from '../base/clock.js';

/**
 * One timer for many deadlines, set for the earliest. A later one doesn't move it: it is set again when it fires.
 *
 * The timer stays set while there is no deadline. Most leases are released long before theirs, and a timer for each of them
 * would cost more than the rest of the bookkeeping.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;
  /** When the timer fires; no later than `#dueAt`. */
  #firesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  watch(at: number): void {
    if (this.#dueAt <= at) return;
    this.#dueAt = at;
    if (this.#firesAt <= at) this.#timer?.use(true);
    else this.#set();
  }

  /** Forgets the deadlines and keeps the timer for the next one. */
  clear(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#clock.timer) this.#timer?.use(false);
    else this.cancel();
  }

  /** Forgets the deadlines and cancels the timer. */
  cancel(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#stop();
  }

  #set(): void {
    this.#stop();
    this.#firesAt = this.#dueAt;
    this.#timer = timerOf(this.#clock, this.#dueAt - this.#clock.monotonic(), () => this.#onFired());
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  #onFired(): void {
    this.#stop();
    if (this.#dueAt === Number.POSITIVE_INFINITY) return;
    if (this.#clock.monotonic() < this.#dueAt) return this.#set();
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#onDue();
  }
}

function timerOf(clock: Clock, delayMs: number, task: () => void): Timer {
  return clock.timer?.(delayMs, task) ?? { use: () => {}, cancel: clock.after(delayMs, task) };
}
