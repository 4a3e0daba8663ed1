import type { Provider } from '@nestjs/common';
import type { Clock, LeaseStore } from '@fencepost/lease';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { readPostgresFacts } from '@fencepost/ledger/postgres';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import {
  CATALOG,
  CRON_LEASE_STORE,
  DATABASE,
  JOBS_SETTINGS,
  MEMBERSHIP,
  type Database,
  type JobsSettings,
  type Membership,
} from '@fencepost/jobs/internal';
import { LEDGER } from '@fencepost/jobs';
import type { Journal } from '../journal/journal.js';
import { CronOperator } from '../operating/cron-operator.js';
import { Doctor } from '../operating/doctor.js';
import { LeaseService } from '../operating/lease-service.js';
import { readRedisFacts } from '../operating/redis-facts.js';
import { findLostDefinitions } from '../operating/lost-definitions.js';
import { RunOperator } from '../operating/run-operator.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import { openAuditTrail } from './definition-stores.js';
import type { Reads } from './reads.js';
import { AUDIT_TRAIL, JOURNAL, POD_REGISTRY, READS } from './tokens.js';

const audit: Provider = {
  provide: AUDIT_TRAIL,
  inject: [LEASE_REDIS, DATABASE, JOBS_SETTINGS],
  useFactory: openAuditTrail,
};

type Seen = [catalog: Catalog, pods: PodRegistry, journal: Journal];
type LeasePorts = [...Seen, leases: LeaseStore, ledger: Ledger, trail: AuditTrail, clock: Clock, reads: Reads];

const leaseService: Provider = {
  provide: LeaseService,
  inject: [CATALOG, POD_REGISTRY, JOURNAL, CRON_LEASE_STORE, LEDGER, AUDIT_TRAIL, CLOCK, READS],
  useFactory: (...[catalog, pods, journal, leases, ledger, trail, clock, reads]: LeasePorts) =>
    new LeaseService({ catalog, pods, journal, leases, ledger, audit: trail, clock, reads }),
};

type Operators = [operator: CronOperator, runs: RunOperator, membership: Membership];
type Stores = [reads: Reads, database: Database | null, settings: JobsSettings, clock: Clock];

const doctor: Provider = {
  provide: Doctor,
  inject: [CronOperator, RunOperator, MEMBERSHIP, READS, DATABASE, JOBS_SETTINGS, CLOCK],
  useFactory: (...[operator, runs, membership, reads, database, settings, clock]: [...Operators, ...Stores]) => {
    const { prefix, tenant, ledger, postgres } = settings;
    const { redis, catalog, pods, journal, ledger: store } = reads;
    return new Doctor({
      ...{ catalog, pods, journal, operator, runs, membership, ledger },
      redis: () => readRedisFacts({ redis, clock, prefix, tenant }),
      lost: (reading) => findLostDefinitions({ catalog, ledger: store, redis, prefix, tenant }, reading),
      postgres: database && postgres ? () => readPostgresFacts(database.reads, postgres) : null,
    });
  },
};

/** What a person looks through and acts with when something is wrong. */
export const services = { providers: [audit, leaseService, doctor], exports: [AUDIT_TRAIL, LeaseService, Doctor] };
