import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { DueIndex } from './due-index.js';

/** The store takes two milliseconds for so many. */
const MAX_BATCH = 200;

/** A batch takes three calls, one after the other: with fewer at once, store and pod would wait for each other. */
const MAX_IN_FLIGHT = 4;

/** Releases that are announced one by one are asked for together. */
export const DEBOUNCE_MS = 5;

/** Attempts are aligned to this grid, so that leases that expire at about the same time share one call. */
const GRID_MS = 20;

/**
 * When the lease of each cron is to be acquired next, and the batches in flight.
 *
 * A pod that boots wants all crons until it hears of the others: few batches are in flight at once, so that it can leave the rest
 * to them.
 */
export class AcquireQueue {
  /** Overdue crons: acquired before the others. */
  first: ReadonlySet<string> = new Set();
  /** Monotonic. */
  readonly #next = new DueIndex();
  #inFlight = 0;
  #cancelTimer: CancelTimer = () => {};
  /** When the timer fires; `-Infinity` while the end of a batch sends the next ones. */
  #firesAt = Infinity;
  #halted = false;

  /** @param acquire never rejects */
  constructor(
    private readonly clock: Clock,
    private readonly acquire: (crons: readonly string[]) => Promise<void>,
  ) {}

  has(cron: string): boolean {
    return this.#next.dueAt(cron) !== null;
  }

  /** Sets or replaces the next attempt. */
  add(cron: string, delayMs: number): void {
    const at = this.clock.monotonic() + delayMs - (this.first.has(cron) ? DEBOUNCE_MS : 0);
    const alignedAt = delayMs <= DEBOUNCE_MS ? at : Math.ceil(at / GRID_MS) * GRID_MS;
    this.#next.set(cron, alignedAt);
    if (alignedAt < this.#firesAt) this.#arm();
  }

  remove(cron: string): void {
    this.#next.remove(cron);
  }

  /** At once, whatever is in flight. */
  acquireNow(crons: readonly string[]): void {
    for (const cron of crons) this.#next.remove(cron);
    for (let from = 0; from < crons.length; from += MAX_BATCH) this.#send(crons.slice(from, from + MAX_BATCH));
  }

  /** Sends nothing from now on. */
  halt(): void {
    this.#halted = true;
    this.#cancelTimer();
  }

  #arm(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    const isFull = this.#halted || this.#inFlight >= MAX_IN_FLIGHT;
    this.#firesAt = isFull ? -Infinity : (this.#next.earliest() ?? Infinity);
    if (!Number.isFinite(this.#firesAt)) return;
    this.#cancelTimer = this.clock.after(this.#firesAt - this.clock.monotonic(), this.#sendDue);
  }

  readonly #sendDue = (): void => {
    const now = this.clock.monotonic() + DEBOUNCE_MS;
    while (!this.#halted && this.#inFlight < MAX_IN_FLIGHT) {
      const batch = this.#next.takeDue(now, MAX_BATCH);
      if (batch.length === 0) break;
      this.#send(batch);
    }
    this.#arm();
  };

  #send(batch: readonly string[]): void {
    if (this.#halted) return;
    this.#inFlight += 1;
    void this.acquire(batch).then(() => {
      this.#inFlight -= 1;
      this.#sendDue();
    });
  }
}
