import { setImmediate } from 'node:timers';
import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';

/** Timers of Node count whole milliseconds, rounded, and usually fire one millisecond late. */
const AWAKE_MS = 1;

/** After polling, timers only sleep for this long: however many there are, polling takes a hundredth of the time. */
const REST_MS = 100;

/** Runs `task` after this tick of the event loop. */
type Soon = (task: () => void) => CancelTimer;

const nextTick: Soon = (task) => {
  const turn = setImmediate(task);
  return () => clearImmediate(turn);
};

/**
 * A clock whose timers fire on the millisecond instead of one late: each is set a millisecond early, and then the process
 * polls at every tick of its event loop, which stays responsive.
 *
 * Only for real clocks: a manual clock would be polled for ever.
 */
export function preciseTimer(clock: Clock, soon: Soon = nextTick): Clock {
  let restsUntil = -Infinity;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(delayMs, task) {
      if (delayMs <= AWAKE_MS || clock.monotonic() + delayMs < restsUntil) return clock.after(delayMs, task);
      const at = clock.now() + delayMs;
      let cancel = clock.after(delayMs - AWAKE_MS, () => {
        // A wall clock that is stepped back meanwhile must not prolong the polling.
        const until = clock.monotonic() + 2 * AWAKE_MS;
        const look = () => {
          if (clock.now() < at && clock.monotonic() < until) return void (cancel = soon(look));
          restsUntil = clock.monotonic() + REST_MS;
          task();
        };
        look();
      });
      return () => cancel();
    },
  };
}
