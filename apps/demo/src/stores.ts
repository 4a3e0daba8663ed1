import { RedisCatalog, RedisLedger } from '@fencepost/jobs';
import { RedisFencedRows, RedisLeaseStore, type KeySpace, type RedisClient } from '@fencepost/lease';
import type { Stores } from './observer.js';

/** The stores of one deployment, and the table that the jobs of `apps/worker` write to. */
export function redisStores(options: KeySpace & { readonly redis: RedisClient }): Stores {
  return {
    catalog: new RedisCatalog(options),
    ledger: new RedisLedger(options),
    leases: new RedisLeaseStore(options),
    sink: new RedisFencedRows({ ...options, table: 'sink' }),
  };
}
