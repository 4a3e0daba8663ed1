import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { ExplainService, type Catalog, type Ledger, type RedisJournal } from '../jobs.js';

interface Ports {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly catalog: Catalog;
  readonly ledger: Ledger;
  readonly journal: RedisJournal;
}

/** What answers people's questions about crons. */
export interface Questions {
  readonly leaseStore: RedisLeaseStore;
  readonly why: ExplainService;
}

export function questionsOf({ redis, prefix, tenant, catalog, ledger, journal }: Ports): Questions {
  const leaseStore = new RedisLeaseStore({ redis, prefix, tenant, kind: 'cron' });
  return {
    leaseStore,
    why: new ExplainService({ catalog, ledger, journal, leases: leaseStore }),
  };
}
