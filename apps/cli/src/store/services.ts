import type { Clock } from '@fencepost/lease';
import { RedisSemaphoreStore } from '@fencepost/lease/internal/semaphores';
import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import {
  Doctor,
  ExplainService,
  findLostDefinitions,
  LeaseService,
  readQueueLimits,
  readRedisFacts,
  type AuditTrail,
  type Catalog,
  type CronOperator,
  type Ledger,
  type LiveRevisions,
  type PostgresFacts,
  type RedisJournal,
  type RedisPodRegistry,
  type RedisMembership,
  type RunOperator,
} from '../jobs.js';

import type { CronLeases } from './cron-leases.js';

interface Ports {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly view: Pick<Catalog, 'read'>;
  readonly audit: AuditTrail;
  readonly ledger: Ledger;
  readonly membership: RedisMembership;
  readonly journal: RedisJournal;
  readonly pods: RedisPodRegistry;
  readonly revisions: LiveRevisions;
  readonly leaseStore: CronLeases;
  /** Whether that is in the Redis that pods report to. */
  readonly leasesBesidePods: boolean;
  readonly operator: CronOperator;
  readonly runs: RunOperator;
  readonly examine: (() => Promise<PostgresFacts>) | null;
}

export interface Services {
  readonly audit: AuditTrail;
  readonly leases: LeaseService;
  readonly doctor: Doctor;
  readonly why: ExplainService;
}

/** What a person looks through and acts with when something is wrong. */
export function servicesOf(ports: Ports): Services {
  const { redis, prefix, tenant, clock, audit, examine } = ports;
  const at = { redis, prefix, tenant };
  const own = { leases: new RedisLeaseStore(at), semaphores: new RedisSemaphoreStore(at) };
  return {
    audit,
    leases: new LeaseService({
      ...ports,
      leases: ports.leaseStore,
      own,
      reads: { ...ports, catalog: ports.view, leases: ports.leaseStore, own },
    }),
    doctor: new Doctor({
      ...ports,
      catalog: ports.view,
      ledger: examine ? 'postgres' : 'redis',
      redis: () => readRedisFacts({ ...at, clock }),
      lost: (reading) => findLostDefinitions({ ...at, catalog: ports.catalog, ledger: ports.ledger }, reading),
      postgres: examine,
    }),
    why: new ExplainService({
      ...ports,
      trail: audit,
      leases: ports.leaseStore,
      queueLimits: (delivery) => readQueueLimits({ ...at, delivery }),
    }),
  };
}
