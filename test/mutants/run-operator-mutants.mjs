const OPERATING = 'libs/jobs/src/operating/';
const OPERATOR = `${OPERATING}run-operator.ts`;
const RERUN = `${OPERATING}rerun.ts`;
const REPORT = `${OPERATING}run-report.ts`;
const RERUN_SPEC = `${OPERATING}rerun.spec.ts`;
const SPEC = `${OPERATING}run-operator.spec.ts`;

/**
 * What people do about runs that failed, and about questions that only they can answer.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const RUN_OPERATOR_MUTANTS = [
  {
    name: 'retry: a run that is not over is run again',
    defence: 'what goes on, or has succeeded, is not done twice',
    file: OPERATOR,
    find: '    checkEnded(run);\n',
    replace: '',
    killedBy: RERUN_SPEC,
    test: 'refuses a run that has not failed',
  },
  {
    name: 'retry: unknown effects are begun anew without a word',
    defence: 'what may have happened is not repeated under a new idempotency key unless somebody says so',
    file: OPERATOR,
    find: 'if (order.repeatUnknown !== true) await this.#checkKnown(run);',
    replace: '',
    killedBy: RERUN_SPEC,
    test: 'is not run again blindly',
  },
  {
    name: 'retry: a re-run that goes on is not noticed',
    defence: 'two people who retry the same run get one',
    file: RERUN,
    find: 'if (!hasEndedBadly(reply.state)) throw',
    replace: 'if (false) throw',
    killedBy: RERUN_SPEC,
    test: 'is not run again while that goes on already',
  },
  {
    name: 'retry: a second re-run goes on where the first run ended',
    defence: 'what the re-run before has done is not done again',
    file: RERUN,
    find: "if (reply.state !== 'skipped') rerunOf = runId;",
    replace: '',
    killedBy: RERUN_SPEC,
    test: 'goes on where the last of its re-runs ended',
  },
  {
    name: 'retry: a skipped re-run is taken for the last one',
    defence: 'what the run has done is not forgotten because a re-run of it was skipped',
    file: RERUN,
    find: "if (reply.state !== 'skipped') rerunOf = runId;",
    replace: 'rerunOf = runId;',
    killedBy: RERUN_SPEC,
    test: 'is not run again beside others',
  },
  {
    name: 'retry: it does not know what was done',
    defence: 'an effect that is done is done for the re-run too',
    file: RERUN,
    find: '    rerunOf: names.rerunOf,\n',
    replace: '',
    killedBy: RERUN_SPEC,
    test: 'does not do again what it had done',
  },
  {
    name: 'retry: it overlaps with what goes on',
    defence: 'a retry keeps to the overlap policy of its cron unless it is forced',
    file: RERUN,
    find: "overlap: force ? 'allow' : overlap,",
    replace: "overlap: 'allow',",
    killedBy: RERUN_SPEC,
    test: 'is not run again beside others',
  },
  {
    name: 'retry: nobody delivers it',
    defence: 'a retry begins at once, and not with the next sweep',
    file: OPERATOR,
    find: 'await deliver(this.#ports, run.cron, { runIds: [reply.runId], ...how });',
    replace: 'void how;',
    killedBy: RERUN_SPEC,
    test: 'is run again as a run of its own',
  },
  {
    name: 'resolve: an answer goes to whatever is asked by now',
    defence: "nobody's answer is taken for one to another question",
    file: OPERATOR,
    find: 'if (order.effect !== undefined && run.question && run.question.effect !== order.effect) {',
    replace: 'if (false) {',
    killedBy: SPEC,
    test: 'to another question',
  },
  {
    name: 'resolve: a result of what did not happen is dropped',
    defence: 'an answer that contradicts itself is refused',
    file: OPERATOR,
    find: 'if (result === undefined) return { verdict: answer };',
    replace: 'return { verdict: answer };',
    killedBy: SPEC,
    test: 'that can not be is refused',
  },
  {
    name: 'resolve: a run that asks nothing is answered',
    defence: 'who is too late is told that nothing was changed',
    file: OPERATOR,
    find: "if (reply.verdict === 'certain') {",
    replace: 'if (false) {',
    killedBy: SPEC,
    test: 'is refused where nothing is asked any more',
  },
  {
    name: 'resolve: nobody delivers the run',
    defence: 'a run that was answered goes on at once',
    file: OPERATOR,
    find: 'await deliverAll(this.#ports, run.cron, reply.delivery ? [reply.delivery] : []);',
    replace: '',
    killedBy: SPEC,
    test: 'that it happened keeps what it brought',
  },
  {
    name: 'inspect: what goes on is called unknown',
    defence: 'nobody is asked to look up what a worker is just about',
    file: REPORT,
    find: "effect.state === 'begun' && state !== 'running'",
    replace: "effect.state === 'begun'",
    killedBy: SPEC,
    test: 'does not call unknown',
  },
];
