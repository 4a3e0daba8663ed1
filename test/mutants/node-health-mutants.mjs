/**
 * What leaves a failing node of a quorum out, and lets it back in.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const NODE_HEALTH_MUTANTS = [
  {
    name: 'node health: a node that only fails is asked all the same',
    defence: 'not every call waits for the timeout of a dead node',
    file: 'libs/lease/src/quorum/node-health.ts',
    find: 'if (this.#state === CircuitState.Closed) return undefined;',
    replace: 'return undefined;',
    killedBy: 'libs/lease/src/quorum/node-health.spec.ts',
  },
  {
    name: 'node health: everybody tries a node that was left out',
    defence: 'one call is the trial, and no other waits for what comes of it',
    file: 'libs/lease/src/quorum/node-health.ts',
    find: 'isOnTrial || ',
    replace: '',
    killedBy: 'libs/lease/src/quorum/node-health.spec.ts',
  },
  {
    name: 'node health: the wall clock measures the pause',
    defence: 'a clock that went back leaves no node out for as long',
    file: 'libs/lease/src/quorum/node-health.ts',
    find: 'this.#tryAgainAt = clock.monotonic()',
    replace: 'this.#tryAgainAt = clock.now()',
    killedBy: 'libs/lease/src/quorum/node-health.spec.ts',
  },
  {
    name: 'node health: a refusal is a failure',
    defence: 'an answer that says no leaves no node out',
    file: 'libs/lease/src/quorum/node-health.ts',
    find: '    if (isRefusal(error)) return this.answered();\n',
    replace: '',
    killedBy: 'libs/lease/src/quorum/node-health.spec.ts',
  },
];
