import type { Clock } from './clock.js';

export interface ThrottleOptions {
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
