import { RedisCatalog, RedisLedger } from '@fencepost/jobs';
import type { KeySpace } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import type { Stores } from './observer.js';
import type { PostgresStage } from './postgres-stage.js';

/** The stores of one deployment, and the table that the jobs of `apps/worker` write to. */
export function storesOf(at: KeySpace & { readonly redis: RedisClient }, postgres: PostgresStage | null): Stores {
  return {
    catalog: postgres?.catalogAnnouncedOn(at.redis) ?? new RedisCatalog(at),
    ledger: postgres?.ledger ?? new RedisLedger(at),
    leases: new RedisLeaseStore({ ...at, kind: 'cron' }),
    sink: new RedisFencedRows({ ...at, table: 'sink' }),
  };
}
