import { BALANCE_MUTANTS } from './balance-mutants.mjs';
import { CATALOG_MUTANTS } from './catalog-mutants.mjs';
import { CLI_MUTANTS } from './cli-mutants.mjs';
import { COORDINATION_MUTANTS } from './coordination-mutants.mjs';
import { DECLARATION_MUTANTS } from './declaration-mutants.mjs';
import { DISPATCH_MUTANTS } from './dispatch-mutants.mjs';
import { ETCD_MUTANTS } from './etcd-mutants.mjs';
import { FENCED_VALUES_MUTANTS } from './fenced-values-mutants.mjs';
import { JOBS_MUTANTS } from './jobs-mutants.mjs';
import { LEASE_CROWD_MUTANTS } from './lease-crowd-mutants.mjs';
import { LEASE_MUTANTS } from './lease-mutants.mjs';
import { LEASES_MUTANTS } from './leases-mutants.mjs';
import { ATTEMPT_MUTANTS } from './ledger-attempt-mutants.mjs';
import { LEDGER_CANCEL_MUTANTS } from './ledger-cancel-mutants.mjs';
import { CLAIM_MUTANTS } from './ledger-claim-mutants.mjs';
import { LEDGER_POLICY_MUTANTS } from './ledger-policy-mutants.mjs';
import { LEDGER_TRIGGER_MUTANTS } from './ledger-trigger-mutants.mjs';
import { MEMORY_MUTANTS } from './memory-mutants.mjs';
import { MODEL_MUTANTS } from './model-mutants.mjs';
import { NODE_HEALTH_MUTANTS } from './node-health-mutants.mjs';
import { OPERATING_MUTANTS } from './operating-mutants.mjs';
import { PLANNING_MUTANTS } from './planning-mutants.mjs';
import { POSTGRES_MUTANTS } from './postgres-mutants.mjs';
import { QUORUM_MUTANTS } from './quorum-mutants.mjs';
import { SCHEDULE_MUTANTS } from './schedule-mutants.mjs';
import { SCHEDULE_WIRING_MUTANTS } from './schedule-wiring-mutants.mjs';
import { SEMAPHORE_MUTANTS } from './semaphore-mutants.mjs';
import { SWEEP_MUTANTS } from './sweep-mutants.mjs';
import { TELEMETRY_MUTANTS } from './telemetry-mutants.mjs';
import { TRUST_MUTANTS } from './trust-mutants.mjs';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const MUTANTS = [
  ...CLAIM_MUTANTS,
  ...ATTEMPT_MUTANTS,
  ...LEASE_MUTANTS,
  ...LEASE_CROWD_MUTANTS,
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
  ...CATALOG_MUTANTS,
  ...DECLARATION_MUTANTS,
  ...OPERATING_MUTANTS,
  ...SWEEP_MUTANTS,
  ...LEDGER_CANCEL_MUTANTS,
  ...LEDGER_TRIGGER_MUTANTS,
  ...LEDGER_POLICY_MUTANTS,
  ...PLANNING_MUTANTS,
  ...DISPATCH_MUTANTS,
  ...CLI_MUTANTS,
  ...BALANCE_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...SCHEDULE_WIRING_MUTANTS,
];
