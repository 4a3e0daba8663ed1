import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';

/**
 * One timer for the heartbeats of all attempts of a process. They beat in the same turn of the event loop, so the ledger
 * extends all their run leases with one call; and a run that is over before the next heartbeat has cost no timer of its own.
 */
export class HeartbeatTimer {
  readonly #beats = new Set<() => void>();
  #nextAt = 0;
  #cancelTimer: CancelTimer = () => {};

  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
  ) {}

  /** The monotonic instant of the next heartbeat, for who has joined. */
  get nextAt(): number {
    return this.#nextAt;
  }

  /** The first heartbeat comes within `everyMs`: with that of the others. */
  join(beat: () => void): void {
    if (this.#beats.size === 0) this.#arm();
    this.#beats.add(beat);
  }

  leave(beat: () => void): void {
    if (this.#beats.delete(beat) && this.#beats.size === 0) this.#cancelTimer();
  }

  #arm(): void {
    this.#nextAt = this.clock.monotonic() + this.everyMs;
    this.#cancelTimer = this.clock.after(this.everyMs, () => {
      // Before the heartbeats: the last of them to leave ends the timer.
      this.#arm();
      for (const beat of this.#beats) beat();
    });
  }
}
