import { RedisAttemptLog } from './redis-attempt-log.js';
import { RedisLedgerAccess, type RedisLedgerOptions } from './redis-ledger-access.js';

/**
 * The ledger in Redis. Each method is one script, and each script one atomic step; the scripts say what they refuse.
 *
 * Each port is a class of its own that extends the one below it: history, occurrences, operators, attempts.
 */
export class RedisLedger extends RedisAttemptLog {
  constructor(options: RedisLedgerOptions) {
    super(new RedisLedgerAccess(options));
  }
}
