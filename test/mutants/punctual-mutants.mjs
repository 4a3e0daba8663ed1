const PUNCTUAL = 'libs/jobs/src/scheduling/punctual.ts';
const PUNCTUAL_SPEC = 'libs/jobs/src/scheduling/punctual.spec.ts';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const PUNCTUAL_MUTANTS = [
  {
    name: 'punctual: fires when it begins to look',
    defence: 'nothing fires before its instant',
    file: PUNCTUAL,
    find: 'if (clock.now() < at && clock.monotonic() < until) return',
    replace: 'if (clock.now() < at - AWAKE_MS && clock.monotonic() < until) return',
    killedBy: PUNCTUAL_SPEC,
    test: 'looks from a millisecond before on, and fires when the time has come',
  },
  {
    name: 'punctual: looks for as long as the wall clock says',
    defence: 'a wall clock that is stepped back keeps no process awake',
    file: PUNCTUAL,
    find: 'clock.now() < at && clock.monotonic() < until',
    replace: 'clock.now() < at',
    killedBy: PUNCTUAL_SPEC,
    test: 'is awake no longer than two milliseconds',
  },
  {
    name: 'punctual: never rests',
    defence: 'crons of many instants do not keep a process awake all the time',
    file: PUNCTUAL,
    find: 'delayMs <= AWAKE_MS || clock.monotonic() + delayMs < restsUntil',
    replace: 'delayMs <= AWAKE_MS',
    killedBy: PUNCTUAL_SPEC,
    test: 'is awake once in a hundred milliseconds at most',
  },
  {
    name: 'punctual: who looks already is not stopped',
    defence: 'a timer that is cancelled never fires',
    file: PUNCTUAL,
    find: 'return void (cancel = soon(look));',
    replace: 'return void soon(look);',
    killedBy: PUNCTUAL_SPEC,
    test: 'does not fire when it is cancelled while it is awake',
  },
];
