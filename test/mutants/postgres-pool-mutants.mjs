const ROOM = 'libs/jobs/src/ledger/postgres/';
const BY_POOL = 'test/effects/exhausted-pool.spec.ts';

/** @type {import('./mutation-lab.mjs').Mutant[]} */
export const POSTGRES_POOL_MUTANTS = [
  {
    name: 'PostgreSQL pool: what the pool says of its own timeout is handed on as it is',
    defence: 'whoever uses up the pool hears what to do, whosever patience ends first',
    file: `${ROOM}borrow-connection.ts`,
    find: 'if (!isImpatience(cause)) throw cause;',
    replace: 'if (cause) throw cause;',
    killedBy: BY_POOL,
    test: 'connectionTimeoutMillis',
  },
  {
    name: 'PostgreSQL pool: transactions take the connections of the ledger',
    defence: 'however many transactions are open, their heartbeats find a connection',
    file: `${ROOM}postgres-transaction.ts`,
    find: 'order.request.pool ?? access.transactions',
    replace: 'order.request.pool ?? access.pool',
    killedBy: 'test/ledger/postgres-transaction.spec.ts',
    test: 'takes no connection that keeps it alive',
  },
];
