const TESTING = 'libs/jobs/src/testing/';
const KIT = `${TESTING}test-jobs.spec.ts`;
const FAULTS = `${TESTING}faulty-ledger.spec.ts`;

/**
 * What makes a worker that a test has killed, frozen or cut off behave as a real one would.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const TESTING_KIT_MUTANTS = [
  {
    name: 'testing-kit: a worker that was killed before a write still writes',
    defence: 'nothing of a dead process is written',
    file: `${TESTING}faulty-ledger.ts`,
    find: "    if (write) points.meet(process, { when: 'before', ...write });\n    await process.pass();\n",
    replace: "    if (write) points.meet(process, { when: 'before', ...write });\n",
    killedBy: FAULTS,
    test: 'writes nothing any more when it was killed before it',
  },
  {
    name: 'testing-kit: a worker that was killed hears the answer',
    defence: 'a dead process goes on with nothing',
    file: `${TESTING}faulty-ledger.ts`,
    find: '  } finally {\n    await process.pass();\n  }',
    replace: '  } finally {\n    // nothing\n  }',
    killedBy: FAULTS,
    test: 'hears nothing of what it wrote when it was killed after it',
  },
  {
    name: 'testing-kit: a frozen worker is answered',
    defence: 'a frozen process goes on when it is thawed, and not before',
    file: `${TESTING}worker-process.ts`,
    find: "if (this.#state === 'runs') return Promise.resolve();",
    replace: "if (this.#state !== 'dead') return Promise.resolve();",
    killedBy: FAULTS,
    test: 'sends what it was about to send when it is thawed, and not before',
  },
  {
    name: 'testing-kit: the timers of a dead worker run',
    defence: 'a dead process extends no lease',
    file: `${TESTING}worker-process.ts`,
    find: '    for (const cancel of this.#timers) cancel();\n',
    replace: '',
    killedBy: FAULTS,
    test: 'has timers that stop with it',
  },
  {
    name: 'testing-kit: a mishap happens to everybody who gets there',
    defence: 'each mishap happens once',
    file: `${TESTING}fail-points.ts`,
    find: 'this.#planned.splice(index, 1)',
    replace: 'this.#planned.slice(index, index + 1)',
    killedBy: FAULTS,
    test: 'happens once',
  },
  {
    name: 'testing-kit: a mishap of one effect happens at any',
    defence: 'a mishap happens where it was planned',
    file: `${TESTING}fail-points.ts`,
    find: '(effect === undefined || effect === at.effect)',
    replace: 'true',
    killedBy: FAULTS,
    test: 'happens at its own effect',
  },
  {
    name: 'testing-kit: a run that is fired leaves the instants before it to the next look',
    defence: 'an instant that was passed over is not made up for behind the back of a test',
    file: `${TESTING}test-scheduler.ts`,
    find: 'last !== null && last > from ?',
    replace: 'last === null ?',
    killedBy: KIT,
    test: 'writes those before it off',
  },
  {
    name: 'testing-kit: what is to be asked about is done again',
    defence: 'the table of fail points notices a policy that is not kept',
    file: 'libs/jobs/src/running/effect-policy.ts',
    find: "  if (ifUnknown === 'ask') return { step: 'ask', doubt: 'lost' };\n",
    replace: '',
    killedBy: 'test/effects/fail-points.spec.ts',
    test: "over the ledger in 'memory'",
  },
];
