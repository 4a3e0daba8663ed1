const JOBS = 'libs/jobs/src/';
const MISFIRE = `${JOBS}scheduling/misfire.ts`;
const MISFIRE_SPEC = `${JOBS}scheduling/misfire.spec.ts`;
const DISPATCHER = `${JOBS}scheduling/dispatcher.ts`;
const ENGINE_SPEC = `${JOBS}scheduling/spread-engine.spec.ts`;
const DEFINITION = `${JOBS}catalog/definition.ts`;
const HASH_SPEC = `${JOBS}catalog/definition.spec.ts`;
const DECLARATION = `${JOBS}nest/cron-declaration.ts`;
const DECLARATION_SPEC = `${JOBS}nest/cron-declaration.spec.ts`;
const LITERAL = `${JOBS}nest/cron-literal.ts`;
const LITERAL_SPEC = 'test/jobs/cron-literal.spec.ts';
const LEDGER_SPEC = `${JOBS}ledger/memory-ledger.spec.ts`;

/**
 * From the options of a cron to the moment it fires.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const SCHEDULE_WIRING_MUTANTS = [
  {
    name: 'spread: an occurrence is due at its instant',
    defence: 'dueAt is the instant plus the spread',
    file: MISFIRE,
    find: 'dueAt: scheduledAt + spreadMs,',
    replace: 'dueAt: scheduledAt,',
    killedBy: MISFIRE_SPEC,
    test: 'is nothing before the occurrence is due',
  },
  {
    name: 'spread: lateness counts from the instant',
    defence: 'who is due later is not late for that',
    file: MISFIRE,
    find: 'const now = input.now - schedule.spreadMs;',
    replace: 'const now = input.now;',
    killedBy: MISFIRE_SPEC,
    test: 'is late after its grace, counted from when it was due',
  },
  {
    name: 'spread: the timer is armed for the instant',
    defence: 'a pod looks when something is due',
    file: DISPATCHER,
    find: 'next + schedule.spreadMs + aheadMs',
    replace: 'next + aheadMs',
    killedBy: ENGINE_SPEC,
    test: 'fires at its instants plus its offset',
  },
  {
    name: 'spread: a pod that starts before an occurrence is due looks for the one after it',
    defence: 'an instant that is over and not due yet is still to come',
    file: DISPATCHER,
    find: 'Math.max(cursor, now - schedule.spreadMs)',
    replace: 'Math.max(cursor, now)',
    killedBy: ENGINE_SPEC,
    test: 'keeps its offset on another pod',
  },
  {
    name: 'spread: a definition counts from the instant on at which it was accepted',
    defence: 'a deploy between an instant and its offset loses no run',
    file: `${JOBS}scheduling/held-cron.ts`,
    find: 'entry.since - schedule.spreadMs',
    replace: 'entry.since',
    killedBy: ENGINE_SPEC,
    test: 'loses no instant to a change of its definition',
  },
  {
    name: 'spread: a pod with a fast clock writes off what is not due yet',
    defence: 'the ledger is told when the instants that are written off were due',
    file: DISPATCHER,
    find: '      spreadMs: schedule.spreadMs,\n',
    replace: '',
    killedBy: ENGINE_SPEC,
    test: 'loses none to a pod whose clock is ahead',
  },
  {
    name: 'spread: how far a clock is ahead is counted from the instant',
    defence: 'a pod that is ahead fires when the store says that it is time',
    file: DISPATCHER,
    find: '(through + held.schedule.spreadMs - reply.waitMs)',
    replace: '(through - reply.waitMs)',
    killedBy: ENGINE_SPEC,
    test: 'fires at its offset on a pod whose clock is ahead',
  },
  {
    name: 'memory ledger: ranges may be written off before they were due',
    defence: 'the store compares with when the last of them was due',
    file: `${JOBS}ledger/memory-claim.ts`,
    find: 'endOf(request) + (request.spreadMs ?? 0)',
    replace: 'endOf(request)',
    killedBy: LEDGER_SPEC,
    test: 'refuses to write off instants before they are due',
  },
  {
    name: 'redis ledger: ranges may be written off before they were due',
    defence: 'the store compares with when the last of them was due',
    file: `${JOBS}ledger/redis-claim.ts`,
    find: 'end + (request.spreadMs ?? 0)',
    replace: 'end',
    killedBy: 'test/ledger/redis-ledger.spec.ts',
    test: 'refuses to write off instants before they are due',
  },
  {
    name: 'ledger: an occurrence may be due before its instant',
    defence: 'no instant of the future is claimed by a wrong dueAt',
    file: `${JOBS}ledger/ledger-request.ts`,
    find: "checkWhole('dueAt', occurrence.dueAt, occurrence.scheduledAt);",
    replace: "checkWhole('dueAt', occurrence.dueAt, 0);",
    killedBy: LEDGER_SPEC,
    test: 'with ranges out of order',
  },
  {
    name: 'declaration: the rule for the clocks is dropped',
    defence: 'what stands at the method is what the scheduler pods do',
    file: DECLARATION,
    find: '    ...(isDefault(dst) ? {} : { dst }),\n',
    replace: '',
    killedBy: `${JOBS}scheduling/dst-engine.spec.ts`,
    test: 'a fixed time that comes twice is fired as',
  },
  {
    name: 'declaration: a default that is written down is another content',
    defence: 'two builds that mean the same declare the same',
    file: DECLARATION,
    find: 'isDefault(dst) ? {} : { dst }',
    replace: '{ dst }',
    killedBy: DECLARATION_SPEC,
    test: 'has its defaults',
  },
  {
    name: 'declaration: the spread is dropped',
    defence: 'what stands at the method is what the scheduler pods do',
    file: DECLARATION,
    find: 'spread === 0 ? {}',
    replace: 'spread >= 0 ? {}',
    killedBy: DECLARATION_SPEC,
    test: 'takes every option',
  },
  {
    name: 'declaration: the least interval is not checked',
    defence: 'an expression that fires more often than it may is refused at boot',
    file: DECLARATION,
    find: 'minInterval === 0 ? {}',
    replace: 'minInterval >= 0 ? {}',
    killedBy: DECLARATION_SPEC,
    test: 'is refused for an expression that fires more often than it may',
  },
  {
    name: 'catalog: another rule for the clocks has the same hash',
    defence: 'every option of a definition is part of its content',
    file: DEFINITION,
    find: "dst ? [['dst', dst.gap, dst.repeat] as const] : []",
    replace: "dst ? [['dst'] as const] : []",
    killedBy: HASH_SPEC,
    test: 'is another one for each rule',
  },
  {
    name: 'catalog: options that nobody uses are part of the hash',
    defence: 'no build is in conflict over an option that neither has',
    file: DEFINITION,
    find: "(spreadMs === undefined ? [] : [['spread', spreadMs] as const])",
    replace: "[['spread', spreadMs] as const]",
    killedBy: HASH_SPEC,
    test: 'is what it was before there were options',
  },
  {
    name: 'literal: the end of a range is not looked at',
    defence: 'a field out of range is a compile error',
    file: LITERAL,
    find: "[From, To] extends [F['values'], F['values']]",
    replace: "From extends F['values']",
    killedBy: LITERAL_SPEC,
    test: 'is an error that says which field takes what',
  },
  {
    name: 'literal: a step may be anything',
    defence: 'a step that is longer than its field is a compile error',
    file: LITERAL,
    find: "Step extends F['steps']",
    replace: 'Step extends string',
    killedBy: LITERAL_SPEC,
    test: 'is an error that says which field takes what',
  },
  {
    name: 'literal: a text with an open part is refused',
    defence: 'what is only known at run time is checked at boot',
    file: LITERAL,
    find: 'Partial<Record<Text, unknown>> extends Record<Text, unknown>',
    replace: 'string extends Text',
    killedBy: LITERAL_SPEC,
    test: 'wholly or in parts',
  },
  {
    name: 'literal: any zone will do',
    defence: 'an unknown zone is a compile error',
    file: LITERAL,
    find: 'Lowercase<Text> extends Lowercase<ZoneName>',
    replace: 'Text extends string',
    killedBy: LITERAL_SPEC,
    test: 'is an error when there is none of that name',
  },
];
