import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';

/**
 * A worker process as far as a test needs one: it can be killed and frozen at any moment. Nothing of a dead one happens any
 * more, as after SIGKILL: no timer, no call, no answer. Of a frozen one nothing happens until it is thawed, and then all
 * that is late does, as after SIGSTOP and SIGCONT.
 */
export class WorkerProcess {
  readonly clock: Clock;
  /** Resolves when it is killed or frozen for the first time: nobody who waits for its work should go on waiting. */
  readonly gone: Promise<void>;
  #state: 'runs' | 'frozen' | 'dead' = 'runs';
  readonly #late: (() => void)[] = [];
  readonly #timers = new Set<CancelTimer>();
  #tellGone = () => {};

  constructor(clock: Clock) {
    this.gone = new Promise((resolve) => (this.#tellGone = resolve));
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, task) => this.#after(clock, { delayMs, task }),
    };
  }

  get state(): 'runs' | 'frozen' | 'dead' {
    return this.#state;
  }

  crash(): void {
    this.#state = 'dead';
    for (const cancel of this.#timers) cancel();
    this.#late.length = 0;
    this.#tellGone();
  }

  freeze(): void {
    if (this.#state !== 'runs') return;
    this.#state = 'frozen';
    this.#tellGone();
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'runs';
    for (const goOn of this.#late.splice(0)) goOn();
  }

  /** Comes back at once while the process runs, when it is thawed if it is frozen, and never when it is dead. */
  pass(): Promise<void> {
    if (this.#state === 'runs') return Promise.resolve();
    return new Promise((resolve) => {
      if (this.#state === 'frozen') this.#late.push(() => resolve(this.pass()));
    });
  }

  #after(clock: Clock, { delayMs, task }: { readonly delayMs: number; readonly task: () => void }): CancelTimer {
    let cancelled = false;
    const run = () => {
      if (cancelled || this.#state === 'dead') return;
      if (this.#state === 'frozen') this.#late.push(run);
      else task();
    };
    const timer = clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      run();
    });
    const cancel = () => {
      cancelled = true;
      this.#timers.delete(cancel);
      timer();
    };
    this.#timers.add(cancel);
    return cancel;
  }
}
