import { RedisAttemptLog } from './redis/redis-attempt-log.js';
import { RedisLedgerAccess, type RedisLedgerOptions } from './redis/redis-ledger-access.js';

export { RedisCatalog } from './redis/redis-catalog.js';
export type { ReplicationOptions } from './redis/replicated-writes.js';

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
