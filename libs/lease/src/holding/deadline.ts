import type { CancelTimer, Clock } from '../base/clock.js';

/** One timer for many deadlines, armed for the earliest. A later one doesn't move it: it is armed again when it fires. */
export class Deadline {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #armed: { readonly at: number; readonly cancel: CancelTimer } | undefined;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  watch(at: number): void {
    if (this.#armed && this.#armed.at <= at) return;
    this.clear();
    const cancel = this.#clock.after(at - this.#clock.monotonic(), () => {
      this.clear();
      this.#onDue();
    });
    this.#armed = { at, cancel };
  }

  clear(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
  }
}
