import type { CancelTimer, Clock, Timer } from '../base/clock.js';

interface Waiting {
  readonly dueAt: number;
  readonly task: () => void;
  inUse: boolean;
}

/** Enough for a chain of promises between two timers; a real `setImmediate` comes after all of them. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Time that stands still until a test turns it. */
export class ManualClock implements Clock {
  #wallAtStart: number;
  #monotonic = 0;
  readonly #timers = new Set<Waiting>();

  /** @param startsAt wall clock, milliseconds since the Unix epoch */
  constructor(startsAt: number = Date.UTC(2030, 0, 1)) {
    this.#wallAtStart = startsAt;
  }

  now(): number {
    return Math.floor(this.#wallAtStart + this.#monotonic);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, task: () => void): CancelTimer {
    return this.timer(delayMs, task).cancel;
  }

  timer(delayMs: number, task: () => void): Timer {
    const timer = { dueAt: this.#monotonic + Math.max(0, delayMs), task, inUse: true };
    this.#timers.add(timer);
    return { use: (inUse) => void (timer.inUse = inUse), cancel: () => void this.#timers.delete(timer) };
  }

  /** How many timers wait and are in use: a test that is done expects 0. */
  get pending(): number {
    return [...this.#timers].filter(({ inUse }) => inUse).length;
  }

  /** Turns both clocks on by `ms`. Timers run in the order they are due; promises settle between them and at the end. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await settle();
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#monotonic = Math.max(timer.dueAt, this.#monotonic);
      timer.task();
      await settle();
    }
    this.#monotonic = end;
    await settle();
  }

  /** Steps the wall clock alone, as NTP or an operator does, and as a machine that slept sees it. */
  jumpWall(ms: number): void {
    this.#wallAtStart += ms;
  }

  #next(end: number): Waiting | undefined {
    // Sorting is stable and a set keeps the order of insertion: two timers due at once run as they were started.
    return [...this.#timers].filter((timer) => timer.dueAt <= end).toSorted((a, b) => a.dueAt - b.dueAt)[0];
  }
}
