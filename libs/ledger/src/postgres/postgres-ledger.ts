import type { TransactionalLedger } from '../base/transactional-ledger.js';
import { PostgresAttemptLog } from './postgres-attempt-log.js';
import { PostgresLedgerAccess, type PostgresLedgerOptions } from './postgres-ledger-access.js';

/**
 * The ledger in PostgreSQL. Each method is one call of a function there, and a transaction of its own, in which the row of
 * the cron is locked first; the functions say what they refuse. {@link migrateLedger} makes them.
 *
 * What a committed transaction survives, a run survives: a restart, a failover to a synchronous standby. With
 * `synchronous_commit = off`, or a failover to an asynchronous one, what was recorded last can be lost.
 *
 * Each port is a class of its own that extends the one below it: history, occurrences, operators, attempts.
 */
export class PostgresLedger extends PostgresAttemptLog implements TransactionalLedger {
  /** @throws {SetupError} for a prefix, tenant or schema that can't be one; each method, when the tables are not there */
  constructor(options: PostgresLedgerOptions) {
    super(new PostgresLedgerAccess(options));
  }

  /**
   * Checks the version of the tables now. While this release doesn't work with it nothing new begins here.
   * @throws {SetupError} when it doesn't, and what the pool throws when the server could not be asked
   */
  checkSchema(): Promise<void> {
    return this.access.checkSchema();
  }
}
