const CLI = 'apps/cli/src/';
const SET = 'test/jobs/fencepost-set.spec.ts';
const ORDERS = 'test/jobs/fencepost-orders.spec.ts';
const VALUES = `${CLI}option-values.spec.ts`;

/**
 * What keeps it from making another cron than the one that was typed, or over the head of somebody else.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const CLI_SET_MUTANTS = [
  {
    name: 'set: who was too late is told all is well',
    defence: 'a script sees that its change was not made',
    file: `${CLI}commands/moved.ts`,
    find: 'code: EXIT.finding',
    replace: 'code: EXIT.ok',
    killedBy: SET,
    test: 'fails when somebody was faster',
  },
  {
    name: 'set: bad input looks like somebody who was faster',
    defence: 'only a change that lost the race is a finding',
    file: `${CLI}commands/moved.ts`,
    find: 'if (!(error instanceof CatalogMovedError)) throw error;',
    replace: 'if (!(error instanceof Error)) throw error;',
    killedBy: SET,
    test: 'and changes nothing',
  },
  {
    name: 'set: the expected generation is forgotten',
    defence: 'a change that somebody made meanwhile is not written over',
    file: `${CLI}commands/set.ts`,
    find: '...(expected !== undefined && { expected: ',
    replace: '...(expected === 0 && { expected: ',
    killedBy: SET,
    test: 'fails when somebody was faster',
  },
  {
    name: 'set: none is any',
    defence: 'who means to make a cron does not change one',
    file: `${CLI}commands/set.ts`,
    find: 'expected !== undefined && {',
    replace: "expected !== undefined && expected !== 'none' && {",
    killedBy: SET,
    test: 'only makes a cron that is not there',
  },
  {
    name: 'set: what the clocks do is left to the default',
    defence: 'what somebody says about times that do not exist is kept',
    file: `${CLI}commands/cron-options.ts`,
    find: '    ...(dst && { dst }),\n',
    replace: '',
    killedBy: SET,
    test: 'hands every option on',
  },
  {
    name: 'set: options are left on the way',
    defence: 'a cron is what was typed',
    file: `${CLI}commands/cron-options.ts`,
    find: "'overlap', 'maxConcurrency', 'cancelGrace'",
    replace: "'overlap', 'maxConcurrency'",
    killedBy: SET,
    test: 'hands every option on',
  },
  {
    name: 'set: the zone is left on the way',
    defence: 'a cron does not fire by another clock than the one that was typed',
    file: `${CLI}commands/cron-options.ts`,
    find: '    timeZone: flags.tz,\n',
    replace: '',
    killedBy: SET,
    test: 'hands every option on',
  },
  {
    name: 'set: a cron that does not fire is told to have workers',
    defence: 'who left --disabled in sees it',
    file: `${CLI}commands/set.ts`,
    find: "state === 'firing'",
    replace: "state !== 'removed'",
    killedBy: SET,
    test: 'says of a disabled cron',
  },
  {
    name: 'remove: the expected generation is forgotten',
    defence: 'a cron that somebody changed meanwhile is not removed',
    file: `${CLI}commands/remove.ts`,
    find: 'expected !== undefined && {',
    replace: 'expected === 0 && {',
    killedBy: SET,
    test: 'removes nothing',
  },
  {
    name: 'options: a payload of null is an empty text',
    defence: 'a handler gets the JSON that was typed',
    file: `${CLI}commands/trigger.ts`,
    find: '{ payload: payload.value }',
    replace: "{ payload: payload.value ?? '' }",
    killedBy: ORDERS,
    test: 'gives null where null was asked for',
  },
  {
    name: 'options: no grace at all is refused',
    defence: 'durations that may be none can be typed',
    file: `${CLI}option-values.ts`,
    find: 'return durationFrom(0, text);',
    replace: 'return durationFrom(1, text);',
    killedBy: VALUES,
    test: 'may be none at all',
  },
];
