const FUNCTIONS = 'libs/jobs/src/ledger/postgres/sql/functions/';
const BEGIN = `${FUNCTIONS}begin-plain-attempts.sql`;
const FINISH = `${FUNCTIONS}finish-plain-attempts.sql`;
const BY_CONTRACT = 'test/ledger/postgres-ledger.spec.ts';

/**
 * What is begun and ended for many at once, without a second look: only where nothing speaks against it.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const POSTGRES_PLAIN_MUTANTS = [
  {
    name: 'PostgreSQL plain: whoever stands in line begins at once',
    defence: 'a run that may have to wait for others is looked at by itself',
    file: BEGIN,
    find: "run.attempt = 0 and run.overlap = 'allow'",
    replace: 'run.attempt = 0',
    killedBy: BY_CONTRACT,
    test: 'goes in the order of its instants, one after the other',
  },
  {
    name: 'PostgreSQL plain: a run begins before it is due',
    defence: 'what was asked for later begins later',
    file: BEGIN,
    find: ' and coalesce(run.not_before, 0) <= at',
    replace: '',
    killedBy: BY_CONTRACT,
    test: 'is due then, and nobody begins it before',
  },
  {
    name: 'PostgreSQL plain: attempts are not counted',
    defence: 'attempts are bounded, so only a first one begins without a second look',
    file: BEGIN,
    find: 'run.attempt = 0 and ',
    replace: '',
    killedBy: BY_CONTRACT,
    test: 'goes on when that time has come',
  },
  {
    name: 'PostgreSQL plain: the start deadline is not looked at',
    defence: 'a run that nobody began in time is skipped',
    file: BEGIN,
    find: ' and coalesce(run.start_by, at) >= at',
    replace: '',
    killedBy: BY_CONTRACT,
    test: 'start deadline',
  },
  {
    name: 'PostgreSQL plain: fences go by the clock alone',
    defence: 'a fence increases also when the clock went back',
    file: BEGIN,
    find: 'set run_fence = greatest(cron.run_fence, micros - 1) + wanted.fences',
    replace: 'set run_fence = micros - 1 + wanted.fences',
    killedBy: BY_CONTRACT,
    test: 'issues a larger fence also when the clock went back',
  },
  {
    name: 'PostgreSQL plain: a stale attempt succeeds',
    defence: 'only the current attempt ends its run',
    file: FINISH,
    find: ' and check_attempt(run, done.proof)',
    replace: '',
    killedBy: BY_CONTRACT,
    test: 'refuses anybody else, counts it, and changes nothing',
  },
  {
    name: 'PostgreSQL plain: whatever ends has succeeded',
    defence: 'what failed is ended as failed',
    file: FINISH,
    find: " and one ->> 'kind' = 'succeeded'",
    replace: '',
    killedBy: BY_CONTRACT,
    test: 'ends the run with its error when it failed for good',
  },
];
