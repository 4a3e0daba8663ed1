import type { Clock } from '../base/clock.js';
import { sleep, type CancelTimer } from '../base/clock.js';
import type { ManualClock } from '../testing/manual-clock.js';

/** Time as one process of a machine has it: its wall clock can be wrong, and it can be paused, as by SIGSTOP. */
export class ProcessClock implements Clock {
  #aheadMs = 0;
  #pausedUntil = 0;
  readonly #timers = new Set<() => void>();

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

  /** How many timers of this process wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** A timer that is due meanwhile fires afterwards. */
  after(delayMs: number, task: () => void): CancelTimer {
    let cancel: CancelTimer;
    const fire = () => {
      if (this.isPaused) return void (cancel = this.machine.after(this.#pausedUntil - this.monotonic(), fire));
      this.#timers.delete(fire);
      task();
    };
    cancel = this.machine.after(delayMs, fire);
    this.#timers.add(fire);
    return () => {
      this.#timers.delete(fire);
      cancel();
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
