/** Cancels a task of {@link Clock.after}; calling it twice, or after the task ran, does nothing. */
export type CancelTimer = () => void;

/**
 * Time and waiting as a value, so that a test can turn it by hand.
 *
 * `now` is for records and for comparing with a cron's instants; `monotonic` is for deadlines, because a wall clock may
 * be stepped by NTP and a deadline may not.
 */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonic(): number;
  /** Runs `task` once after `delayMs` milliseconds. */
  after(delayMs: number, task: () => void): CancelTimer;
  /** The same, as a timer that can stay set while nothing needs it. Optional: a clock without it sets a new timer each time. */
  timer?(delayMs: number, task: () => void): Timer;
}

/** It keeps the process alive only while it is in use, as it is at first. It fires either way. */
export interface Timer {
  readonly use: (isInUse: boolean) => void;
  /** Calling it twice, or after the task ran, does nothing. */
  readonly cancel: CancelTimer;
}

/** `setTimeout` fires at once for a longer delay (2^31 − 1 ms), so longer ones are cut and the caller looks again. */
const MAX_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, task) => {
    const timer = started(delayMs, task);
    return () => clearTimeout(timer);
  },
  timer: (delayMs, task) => {
    const timer = started(delayMs, task);
    return { use: (isInUse) => void (isInUse ? timer.ref() : timer.unref()), cancel: () => clearTimeout(timer) };
  },
};

function started(delayMs: number, task: () => void): NodeJS.Timeout {
  return setTimeout(task, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
}

/** Resolves after `delayMs`, or at once when `signal` aborts: the caller looks at the signal, waiting is not an error. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(delayMs, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

interface ThrottleOptions {
  readonly clock: Clock;
  readonly windowMs: number;
}

/**
 * Lets the first message through at once, then at most one per window, with the number of those held back.
 *
 * Without a timer on purpose: the last few of a burst are reported with the next burst, and nothing has to be cleaned up.
 */
export function throttled(report: (message: string) => void, options: ThrottleOptions): (message: string) => void {
  let openAt = Number.NEGATIVE_INFINITY;
  let heldBack = 0;
  return (message) => {
    if (options.clock.monotonic() < openAt) {
      heldBack += 1;
      return;
    }
    openAt = options.clock.monotonic() + options.windowMs;
    report(heldBack === 0 ? message : `${message} (and ${heldBack} more since the last report)`);
    heldBack = 0;
  };
}

const TOLERANCE_MS = 2_000;

/**
 * Detects that the machine slept: the monotonic clock stands still meanwhile, so every deadline on it is too late, and
 * only the wall clock shows the gap. A corrected wall clock looks the same, and giving up leases needlessly is safe.
 */
export class ClockJump {
  readonly #clock: Clock;
  #apart: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#apart = clock.now() - clock.monotonic();
  }

  /** Whether the two clocks have drifted apart by more than 2 s since the last call. */
  look(monotonicNow: number, now: number = this.#clock.now()): boolean {
    const before = this.#apart;
    this.#apart = now - monotonicNow;
    return Math.abs(this.#apart - before) > TOLERANCE_MS;
  }
}
