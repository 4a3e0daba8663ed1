import type { RedisClient } from '@fencepost/lease/redis';
import { PostgresLedger } from '@fencepost/ledger/postgres';
import { RedisLedger } from '@fencepost/ledger/redis';
import { BullmqRunQueue, RedisMembership } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';
import { openCatalog } from '../../libs/jobs/src/nest/stores.js';
import { openAuditTrail } from '../../libs/operations/src/nest/definition-stores.js';
import type { Database } from './database.js';

const TENANT = 'default';
const WAIT_MS = 2_000;

export interface StoreSnapshot {
  readonly redis: RedisClient;
  /** For what has to be on replicas before it counts: WAIT holds its connection up. */
  readonly waiting: RedisClient;
  readonly waitReplicas: number;
  readonly prefix: string;
  readonly database: Pick<Database, 'pool' | 'schema'> | undefined;
}

/**
 * As a person's tools see them, and not through what is broken between a pod and its server. What the oracle answers has to
 * outlive a failover as what pods write does: else the ledger forgets an answer, and pods are told another story than before.
 * Where definitions are is the product's own choice: chosen here as well, a wrong one would not be seen.
 */
export async function storesOn({ redis, waiting, waitReplicas, prefix, database }: StoreSnapshot) {
  const space = { redis, prefix, tenant: TENANT };
  const replication = { redis: waiting, replicas: waitReplicas, timeoutMs: WAIT_MS };
  const inRedis = () => new RedisLedger({ ...space, ...(waitReplicas > 0 ? { replication } : {}) });
  const queue = new BullmqRunQueue({ ...space, onTrouble: () => {} });
  const place = { prefix, tenant: TENANT, postgres: database };
  const stores = {
    ledger: database ? new PostgresLedger({ ...database, prefix, tenant: TENANT }) : inRedis(),
    catalog: await openCatalog(redis, database ?? null, place, new Telemetry()),
    trail: openAuditTrail(redis, database ?? null, place),
    membership: new RedisMembership(space),
    queue,
  };
  return { stores, closeStores: () => queue.close() };
}
