import { setImmediate } from 'node:timers';
import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';

/** A timer of Node counts whole milliseconds from a wall clock that is cut to them: it is late by one, as a rule. */
const AWAKE_MS = 1;

/** Who has waited awake sleeps until its instants for so long: however many they are, a hundredth of the time is spent on it. */
const REST_MS = 100;

/** Runs `task` when the turn of the event loop is over. */
type Soon = (task: () => void) => CancelTimer;

const nextTick: Soon = (task) => {
  const turn = setImmediate(task);
  return () => clearImmediate(turn);
};

/**
 * A clock whose timers end at the millisecond, and not one late: each is set for a millisecond before, and from there the
 * process looks again at every turn of its event loop, so that it hears everything else meanwhile.
 *
 * For time that passes by itself: a clock that is turned by hand would be looked at for ever.
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
        // A wall clock that is stepped back meanwhile keeps nobody awake.
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
