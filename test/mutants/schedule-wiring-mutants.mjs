const JOBS = 'libs/jobs/src/';
const MISFIRE = `${JOBS}scheduling/misfire.ts`;
const MISFIRE_SPEC = `${JOBS}scheduling/misfire.spec.ts`;
const DISPATCHER_SPEC = `${JOBS}scheduling/dispatcher.spec.ts`;
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
    find: 'const lateByMs = now - spreadMs - instant;',
    replace: 'const lateByMs = now - instant;',
    killedBy: MISFIRE_SPEC,
    test: 'is late after its grace, counted from when it was due',
  },
  {
    name: 'spread: the timer is armed for the instant',
    defence: 'a pod looks when something is due',
    file: `${JOBS}scheduling/outlook.ts`,
    find: 'const dueAt = next + segment.spreadMs + ahead;',
    replace: 'const dueAt = next + ahead;',
    killedBy: DISPATCHER_SPEC,
    test: 'says when it is due, which a spread puts off',
  },
  {
    name: 'spread: a new definition does not wait for what is left of the former one',
    defence: 'a deploy between an instant and its offset loses no run',
    file: `${JOBS}scheduling/outlook.ts`,
    find: 'if (firstOf(held, segment) !== null) return null;',
    replace: '',
    killedBy: `${JOBS}scheduling/dispatcher-generations.spec.ts`,
    test: 'waits with its new instants for a former one',
  },
  {
    name: 'spread: a pod with a fast clock writes off what is not due yet',
    defence: 'the ledger is told when the instants that are written off were due',
    file: `${JOBS}scheduling/claim-request.ts`,
    find: '    spreadMs,\n',
    replace: '',
    killedBy: DISPATCHER_SPEC,
    test: 'carries what the ledger and the worker need',
  },
  {
    name: 'spread: how far a clock is ahead is counted from the instant',
    defence: 'a pod that is ahead fires when the store says that it is time',
    file: `${JOBS}scheduling/dispatcher.ts`,
    find: '(endOf(request) + due.segment.spreadMs - reply.waitMs)',
    replace: '(endOf(request) - reply.waitMs)',
    killedBy: `${JOBS}scheduling/dispatcher-clock.spec.ts`,
    test: 'is ahead by what the store says, also with a spread',
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
    find: '    ...(dst === undefined ? {} : { dst }),\n',
    replace: '',
    killedBy: `${JOBS}scheduling/dst-engine.spec.ts`,
    test: 'a fixed time that comes twice is fired as',
  },
  {
    name: 'declaration: a rule that nobody wrote down is declared',
    defence: 'a lint can tell what somebody has thought of',
    file: DECLARATION,
    find: 'dst === undefined ? {} : { dst }',
    replace: "{ dst: dst ?? { gap: 'next-valid', repeat: 'first' } }",
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
    name: 'declaration: the least interval is dropped',
    defence: 'what stands at the method is part of what the build means',
    file: DECLARATION,
    find: 'minInterval === 0 ? {}',
    replace: 'minInterval >= 0 ? {}',
    killedBy: DECLARATION_SPEC,
    test: 'takes every option',
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
