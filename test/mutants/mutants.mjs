import { COORDINATION_MUTANTS } from './coordination-mutants.mjs';
import { ETCD_MUTANTS } from './etcd-mutants.mjs';
import { FENCED_VALUES_MUTANTS } from './fenced-values-mutants.mjs';
import { JOBS_MUTANTS } from './jobs-mutants.mjs';
import { LEASE_MUTANTS } from './lease-mutants.mjs';
import { LEASES_MUTANTS } from './leases-mutants.mjs';
import { ATTEMPT_MUTANTS } from './ledger-attempt-mutants.mjs';
import { CLAIM_MUTANTS } from './ledger-claim-mutants.mjs';
import { MEMORY_MUTANTS } from './memory-mutants.mjs';
import { MODEL_MUTANTS } from './model-mutants.mjs';
import { NODE_HEALTH_MUTANTS } from './node-health-mutants.mjs';
import { POSTGRES_MUTANTS } from './postgres-mutants.mjs';
import { QUORUM_MUTANTS } from './quorum-mutants.mjs';
import { SCHEDULE_MUTANTS } from './schedule-mutants.mjs';
import { SCHEDULE_WIRING_MUTANTS } from './schedule-wiring-mutants.mjs';
import { SEMAPHORE_MUTANTS } from './semaphore-mutants.mjs';
import { TELEMETRY_MUTANTS } from './telemetry-mutants.mjs';
import { TRUST_MUTANTS } from './trust-mutants.mjs';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const MUTANTS = [
  ...CLAIM_MUTANTS,
  ...ATTEMPT_MUTANTS,
  ...LEASE_MUTANTS,
  ...LEASES_MUTANTS,
  ...MODEL_MUTANTS,
  ...TRUST_MUTANTS,
  ...POSTGRES_MUTANTS,
  ...ETCD_MUTANTS,
  ...QUORUM_MUTANTS,
  ...NODE_HEALTH_MUTANTS,
  ...FENCED_VALUES_MUTANTS,
  ...SEMAPHORE_MUTANTS,
  ...COORDINATION_MUTANTS,
  ...TELEMETRY_MUTANTS,
  ...MEMORY_MUTANTS,
  ...JOBS_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...SCHEDULE_WIRING_MUTANTS,
];
