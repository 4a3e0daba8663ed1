const BOARD = 'test/api/board.spec.ts';
const REDIS = 'test/ledger/redis-ledger.spec.ts';
const POSTGRES = 'test/ledger/postgres-ledger.spec.ts';
const ENDED = 'nothing older than a finished run gets';

/**
 * What keeps the number of runs on the board true.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const RUN_COUNT_MUTANTS = [
  {
    name: 'board: no cron has runs',
    defence: 'the board says how many runs the ledger has of each cron',
    file: 'apps/scheduler/src/board/cron-adapter.ts',
    find: 'iterationCount: counts[n] ?? 0',
    replace: 'iterationCount: 0',
    killedBy: BOARD,
    test: 'how many the ledger has of each',
  },
  {
    name: 'count: runs that have expired',
    defence: 'what has expired and stands in the index still is no run any more',
    file: 'libs/jobs/src/ledger/lua/count-runs.lua',
    find: "since, '+inf'",
    replace: "'-inf', '+inf'",
    killedBy: REDIS,
    test: ENDED,
  },
  {
    name: 'count: runs that PostgreSQL keeps no longer',
    defence: 'what is to be deleted and is there still is no run any more',
    file: 'libs/jobs/src/ledger/postgres/sql/functions/count-runs.sql',
    find: ' and scheduled_at > the_clock.now - the_keep_ms',
    replace: '',
    killedBy: POSTGRES,
    test: ENDED,
  },
  {
    name: 'count: of somebody else',
    defence: 'each cron has the number of its own runs',
    file: 'libs/jobs/src/ledger/postgres/sql/functions/count-runs.sql',
    find: 'order by asked_for.place',
    replace: 'order by asked_for.name',
    killedBy: POSTGRES,
    test: 'answers in the order given, whoever is asked about',
  },
];
