import { sleep, type CancelTimer, type Clock, type Timer } from '../base/clock.js';
import type { ManualClock } from '../testing/manual-clock.js';

/** Time as one process of a machine has it: its wall clock can be wrong, and it can be paused, as by SIGSTOP. */
export class ProcessClock implements Clock {
  #aheadMs = 0;
  #pausedUntil = 0;
  /** By what they fire, whether they are in use. */
  readonly #timers = new Map<() => void, boolean>();

  constructor(private readonly machine: ManualClock) {}

  now(): number {
    return this.machine.now() + this.#aheadMs;
  }

  monotonic(): number {
    return this.machine.monotonic();
  }

  get isPaused(): boolean {
    return this.monotonic() < this.#pausedUntil;
  }

  /** How many timers of this process wait and are in use. */
  get pending(): number {
    return [...this.#timers.values()].filter(Boolean).length;
  }

  after(delayMs: number, task: () => void): CancelTimer {
    return this.timer(delayMs, task).cancel;
  }

  /** A timer that is due while the process is paused fires afterwards. */
  timer(delayMs: number, task: () => void): Timer {
    let cancel: CancelTimer;
    const fire = () => {
      if (this.isPaused) return void (cancel = this.machine.after(this.#pausedUntil - this.monotonic(), fire));
      this.#timers.delete(fire);
      task();
    };
    cancel = this.machine.after(delayMs, fire);
    this.#timers.set(fire, true);
    return {
      use: (isInUse) => void (this.#timers.has(fire) && this.#timers.set(fire, isInUse)),
      cancel: () => {
        this.#timers.delete(fire);
        cancel();
      },
    };
  }

  jumpWall(ms: number): void {
    this.#aheadMs += ms;
  }

  pause(ms: number): void {
    this.#pausedUntil = this.monotonic() + ms;
  }

  /** Resolves when the process runs: at once unless it is paused. */
  async running(): Promise<void> {
    while (this.isPaused) await sleep(this.machine, this.#pausedUntil - this.monotonic());
  }
}
