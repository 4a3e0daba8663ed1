import type { Provider } from '@nestjs/common';
import type { Clock, LeaseStore } from '@fencepost/lease';
import { RedisSemaphoreStore } from '@fencepost/lease/internal/semaphores';
import { CLOCK } from '@fencepost/lease/nest';
import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import type { Catalog } from '@fencepost/ledger/catalog';
import { PostgresCatalog } from '@fencepost/ledger/postgres';
import { RedisCatalog } from '@fencepost/ledger/redis';
import type { Delivery } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import {
  CRON_LEASE_STORE,
  DATABASE,
  JOBS_SETTINGS,
  READ_STORES,
  RedisMembership,
  RedisPodRegistry,
  openAuditTrail,
  readQueueLimits,
  type Database,
  type JobsSettings,
  type Membership,
  type PodRegistry,
  type QueueLimits,
  type ReadStores,
} from '@fencepost/jobs/internal';
import type { Journal } from '../journal/journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import type { OwnStores } from '../operating/own-leases.js';
import { CatalogView } from '../operating/catalog-view.js';
import { LiveRevisions } from '../operating/live-revisions.js';
import { READS } from './tokens.js';

/** The stores once more, for whoever only looks: over the connections of {@link ReadStores}. */
export interface Reads extends ReadStores {
  /** One copy of all crons for everything that looks. */
  readonly catalog: Pick<Catalog, 'read'>;
  readonly leases: Pick<LeaseStore, 'inspect'>;
  readonly own: OwnStores;
  readonly journal: Journal;
  readonly pods: Pick<PodRegistry, 'list' | 'look'>;
  readonly membership: Pick<Membership, 'processes'>;
  /** Which revisions are live, and what they declare. */
  readonly revisions: Pick<LiveRevisions, 'read' | 'recent'>;
  readonly trail: Pick<AuditTrail, 'list'>;
  /** What is set on the queue that has the delivery; without one, on all queues. */
  readonly queueLimits: (delivery?: Delivery) => Promise<readonly QueueLimits[]>;
  /** Forgets the copy of the catalog. Its connections are closed by whoever opened them. */
  close(): void;
}

export const reads: Provider = {
  provide: READS,
  inject: [READ_STORES, DATABASE, JOBS_SETTINGS, CRON_LEASE_STORE, CLOCK],
  useFactory: openReads,
};

type Opened = [
  ...[stores: ReadStores, database: Database | null, settings: JobsSettings, leases: LeaseStore],
  clock: Clock,
];

async function openReads(...[{ redis, ledger }, database, settings, leases, clock]: Opened): Promise<Reads> {
  const { prefix, tenant } = settings;
  const space = { redis, prefix, tenant };
  const lookedAt = database && { ...database, pool: database.reads };
  const stored = catalogOn(redis, lookedAt, settings);
  const catalog = new CatalogView(stored, clock);
  const pods = new RedisPodRegistry(space);
  return {
    redis,
    catalog,
    ledger,
    // What is not in Redis has connections of its own already, and a person's question is one call among its many.
    leases: settings.leases === 'redis' ? new RedisLeaseStore({ ...space, kind: 'cron' }) : leases,
    own: { leases: new RedisLeaseStore(space), semaphores: new RedisSemaphoreStore(space) },
    journal: new RedisJournal(space),
    pods,
    membership: new RedisMembership(space),
    revisions: new LiveRevisions({ pods, revisions: stored.revisions, clock }),
    trail: await openAuditTrail(redis, lookedAt, settings),
    queueLimits: (delivery) => readQueueLimits({ ...space, delivery }),
    close: () => catalog.close(),
  };
}

/** The tables are there: the catalog that pods write was opened before. */
function catalogOn(redis: RedisClient, database: Database | null, settings: JobsSettings): Catalog {
  const { prefix, tenant, postgres } = settings;
  if (!database || !postgres) return new RedisCatalog({ redis, prefix, tenant });
  return new PostgresCatalog({ pool: database.pool, schema: postgres.schema, redis, prefix, tenant });
}
