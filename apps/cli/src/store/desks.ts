import { RedisLeaseStore, type Clock, type RedisClient } from '@fencepost/lease';
import {
  Doctor,
  LeaseDesk,
  readRedisFacts,
  RedisAuditTrail,
  type AuditTrail,
  type CronOperator,
  type Ledger,
  type PostgresFacts,
  type RedisCatalog,
  type RedisJournal,
  type RedisPodRegistry,
  type RedisPresence,
  type RunOperator,
} from '../jobs.js';

interface Ports {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly clock: Clock;
  readonly catalog: RedisCatalog;
  readonly ledger: Ledger;
  readonly presence: RedisPresence;
  readonly journal: RedisJournal;
  readonly pods: RedisPodRegistry;
  readonly operator: CronOperator;
  readonly runs: RunOperator;
  readonly examine: (() => Promise<PostgresFacts>) | null;
}

export interface Desks {
  readonly audit: AuditTrail;
  readonly leases: LeaseDesk;
  readonly doctor: Doctor;
}

/** What a person looks through and acts with when something is wrong. */
export function desksOf(ports: Ports): Desks {
  const { redis, prefix, tenant, clock, examine } = ports;
  const at = { redis, prefix, tenant };
  const audit = new RedisAuditTrail(at);
  return {
    audit,
    leases: new LeaseDesk({ ...ports, leases: new RedisLeaseStore({ ...at, kind: 'cron' }), audit }),
    doctor: new Doctor({
      ...ports,
      ledger: examine ? 'postgres' : 'redis',
      redis: () => readRedisFacts({ ...at, clock }),
      postgres: examine,
    }),
  };
}
