const RUNNING = 'libs/jobs/src/running/';
const PULSE = `${RUNNING}pulse.ts`;
const PULSE_SPEC = `${RUNNING}pulse.spec.ts`;
const HEARTBEAT = `${RUNNING}heartbeat.ts`;
const HEARTBEAT_SPEC = `${RUNNING}heartbeat.spec.ts`;

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const PULSE_MUTANTS = [
  {
    name: 'pulse: its timer stays when the last attempt has left',
    defence: 'a worker without runs has no timer',
    file: PULSE,
    find: ' && this.#beats.size === 0) this.#cancelTimer();',
    replace: ') return;',
    killedBy: PULSE_SPEC,
    test: 'leaves no timer behind when all have',
  },
  {
    name: 'pulse: each attempt that joins arms the timer anew',
    defence: 'all attempts of a process beat at the same time',
    file: PULSE,
    find: 'if (this.#beats.size === 0) this.#arm();',
    replace: 'this.#cancelTimer(), this.#arm();',
    killedBy: PULSE_SPEC,
    test: 'lets attempts that began at different times beat at the same time',
  },
  {
    name: 'pulse: the next beat is armed after the last attempt has left',
    defence: 'a worker without runs has no timer',
    file: PULSE,
    find: '      this.#arm();\n      for (const beat of this.#beats) beat();',
    replace: '      for (const beat of this.#beats) beat();\n      this.#arm();',
    killedBy: PULSE_SPEC,
    test: 'ends when the last attempt leaves at its beat',
  },
  {
    name: 'heartbeat: a deadline waits for the next beat',
    defence: 'a run lease that is over before the next beat is lost when it is over',
    file: HEARTBEAT,
    find: 'if (this.#trustedUntil >= pulse.nextAt) return;',
    replace: 'return;',
    killedBy: HEARTBEAT_SPEC,
    test: 'has lost the run at its deadline when a beat hangs',
  },
];
