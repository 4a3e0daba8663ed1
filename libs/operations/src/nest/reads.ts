import type { Provider } from '@nestjs/common';
import type { Clock, LeaseStore } from '@fencepost/lease';
import { RedisSemaphoreStore } from '@fencepost/lease/internal/semaphores';
import { closeRedis, RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import { PostgresCatalog, PostgresLedger } from '@fencepost/ledger/postgres';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import type { Ledger } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import {
  CRON_LEASE_STORE,
  DATABASE,
  JOBS_SETTINGS,
  commandTimeoutOf,
  copyOf,
  openAuditTrail,
  type Database,
  type JobsSettings,
} from '@fencepost/jobs/internal';
import { LEDGER } from '@fencepost/jobs';
import type { Journal } from '../journal/journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import type { OwnStores } from '../operating/own-leases.js';
import { RedisPodRegistry } from '../pods/redis-pod-registry.js';
import { CatalogView } from '../operating/catalog-view.js';
import { READS } from './tokens.js';

/**
 * The stores once more, for whoever only looks: over a connection of their own, so that what is claimed, renewed and begun
 * never waits behind what a person asks for.
 */
export interface Reads {
  /** Opened by the first question. */
  readonly redis: RedisClient;
  /** One copy of all crons for everything that looks. */
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Ledger;
  readonly leases: Pick<LeaseStore, 'inspect'>;
  readonly own: OwnStores;
  readonly journal: Journal;
  readonly pods: Pick<PodRegistry, 'list'>;
  readonly trail: Pick<AuditTrail, 'list'>;
  readonly close: () => Promise<void>;
}

export const reads: Provider = {
  provide: READS,
  // After the ledger, which makes the tables.
  inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS, CRON_LEASE_STORE, CLOCK, LEDGER],
  useFactory: openReads,
};

type Opened = [
  ...[own: RedisClient, database: Database | null, settings: JobsSettings, leases: LeaseStore],
  clock: Clock,
];

async function openReads(...[own, database, settings, leases, clock]: Opened): Promise<Reads> {
  const redis = readingCopyOf(own);
  const { prefix, tenant } = settings;
  const space = { redis, prefix, tenant };
  const lookedAt = database && { ...database, pool: database.reads };
  const catalog = new CatalogView(catalogOn(redis, lookedAt, settings), clock);
  return {
    redis,
    catalog,
    ledger: ledgerOn(redis, database, settings),
    // What is not in Redis has connections of its own already, and a person's question is one call among its many.
    leases: settings.leases === 'redis' ? new RedisLeaseStore({ ...space, kind: 'cron' }) : leases,
    own: { leases: new RedisLeaseStore(space), semaphores: new RedisSemaphoreStore(space) },
    journal: new RedisJournal(space),
    pods: new RedisPodRegistry(space),
    trail: await openAuditTrail(redis, lookedAt, settings),
    close: () => {
      catalog.close();
      return closed(redis);
    },
  };
}

/** It connects when it is first asked: a pod that nobody looks at has no such connection. */
function readingCopyOf(redis: RedisClient): RedisClient {
  const commandTimeoutMs = commandTimeoutOf(redis);
  const copy = copyOf(redis, {
    ...{ name: 'fencepost-reads', commandTimeoutMs, patienceMs: 2 * commandTimeoutMs },
    isLazy: true,
  });
  // The other connection to the same server tells of it.
  copy.on('error', () => {});
  return copy;
}

/** The tables are there: the catalog that pods write was opened before. */
function catalogOn(redis: RedisClient, database: Database | null, settings: JobsSettings): Catalog {
  const { prefix, tenant, postgres } = settings;
  if (!database || !postgres) return new RedisCatalog({ redis, prefix, tenant });
  return new PostgresCatalog({ pool: database.pool, schema: postgres.schema, redis, prefix, tenant });
}

function ledgerOn(redis: RedisClient, database: Database | null, settings: JobsSettings): Ledger {
  const { prefix, tenant, postgres, keepForMs: keepMs } = settings;
  const timing = { keepMs };
  if (!database || !postgres) return new RedisLedger({ redis, prefix, tenant, timing });
  const { reads: pool } = database;
  return new PostgresLedger({ pool, transactions: pool, schema: postgres.schema, prefix, tenant, timing });
}

async function closed(redis: RedisClient): Promise<void> {
  if (redis.status === 'wait') redis.disconnect();
  else await closeRedis(redis);
}
