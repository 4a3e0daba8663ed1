import { dirname } from 'node:path';
import { ALARM_MUTANTS } from './alarm-mutants.mjs';
import { API_MUTANTS } from './api-mutants.mjs';
import { ATTEMPT_BATCH_MUTANTS } from './attempt-batch-mutants.mjs';
import { BALANCE_MUTANTS } from './balance-mutants.mjs';
import { CATALOG_LOSS_MUTANTS } from './catalog-loss-mutants.mjs';
import { CATALOG_MUTANTS } from './catalog-mutants.mjs';
import { CLASSIFICATION_MUTANTS } from './classification-mutants.mjs';
import { CLI_MUTANTS } from './cli-mutants.mjs';
import { COORDINATION_MUTANTS } from './coordination-mutants.mjs';
import { DECLARATION_MUTANTS } from './declaration-mutants.mjs';
import { DISPATCH_MUTANTS } from './dispatch-mutants.mjs';
import { EFFECT_POLICY_MUTANTS } from './effect-policy-mutants.mjs';
import { ETCD_MUTANTS } from './etcd-mutants.mjs';
import { FENCED_VALUES_MUTANTS } from './fenced-values-mutants.mjs';
import { FOR_EACH_MUTANTS } from './for-each-mutants.mjs';
import { JOBS_MUTANTS } from './jobs-mutants.mjs';
import { JOBS_SERVICE_MUTANTS } from './jobs-service-mutants.mjs';
import { JOURNAL_MUTANTS } from './journal-mutants.mjs';
import { LEASE_CROWD_MUTANTS } from './lease-crowd-mutants.mjs';
import { LEASE_MUTANTS } from './lease-mutants.mjs';
import { LEASES_MUTANTS } from './leases-mutants.mjs';
import { ATTEMPT_MUTANTS } from './ledger-attempt-mutants.mjs';
import { LEDGER_CANCEL_MUTANTS } from './ledger-cancel-mutants.mjs';
import { CHAOS_MUTANTS } from './chaos-mutants.mjs';
import { CLAIM_MUTANTS } from './ledger-claim-mutants.mjs';
import { LEDGER_EFFECT_MUTANTS } from './ledger-effect-mutants.mjs';
import { LEDGER_POLICY_MUTANTS } from './ledger-policy-mutants.mjs';
import { LEDGER_TRIGGER_MUTANTS } from './ledger-trigger-mutants.mjs';
import { LIMITS_MUTANTS } from './limits-mutants.mjs';
import { LISTENER_MUTANTS } from './listener-mutants.mjs';
import { LOG_MUTANTS } from './log-mutants.mjs';
import { MEMORY_MUTANTS } from './memory-mutants.mjs';
import { METRICS_MUTANTS } from './metrics-mutants.mjs';
import { MODEL_MUTANTS } from './model-mutants.mjs';
import { NODE_HEALTH_MUTANTS } from './node-health-mutants.mjs';
import { DOCTOR_MUTANTS } from './doctor-mutants.mjs';
import { OPERATING_DESK_MUTANTS } from './operating-desk-mutants.mjs';
import { OPERATING_MUTANTS } from './operating-mutants.mjs';
import { OUTBOX_MUTANTS } from './outbox-mutants.mjs';
import { PLANNING_MUTANTS } from './planning-mutants.mjs';
import { POSTGRES_ATTEMPT_MUTANTS } from './postgres-attempt-mutants.mjs';
import { POSTGRES_CLAIM_MUTANTS } from './postgres-claim-mutants.mjs';
import { POSTGRES_EFFECT_MUTANTS } from './postgres-effect-mutants.mjs';
import { POSTGRES_LEDGER_MUTANTS } from './postgres-ledger-mutants.mjs';
import { POSTGRES_MUTANTS } from './postgres-mutants.mjs';
import { POSTGRES_ORDER_MUTANTS } from './postgres-order-mutants.mjs';
import { POSTGRES_PLAIN_MUTANTS } from './postgres-plain-mutants.mjs';
import { POSTGRES_POOL_MUTANTS } from './postgres-pool-mutants.mjs';
import { POSTGRES_SCHEMA_MUTANTS } from './postgres-schema-mutants.mjs';
import { PROMELA_MUTANTS } from './promela-mutants.mjs';
import { PULSE_MUTANTS } from './pulse-mutants.mjs';
import { PUNCTUAL_MUTANTS } from './punctual-mutants.mjs';
import { QUESTIONS_MUTANTS } from './questions-mutants.mjs';
import { QUORUM_MUTANTS } from './quorum-mutants.mjs';
import { REDIS_TARGET_MUTANTS } from './redis-target-mutants.mjs';
import { RUN_COUNT_MUTANTS } from './run-count-mutants.mjs';
import { RUN_OPERATOR_MUTANTS } from './run-operator-mutants.mjs';
import { SCHEDULE_MUTANTS } from './schedule-mutants.mjs';
import { SCHEDULE_WIRING_MUTANTS } from './schedule-wiring-mutants.mjs';
import { SEMAPHORE_FORGET_MUTANTS } from './semaphore-forget-mutants.mjs';
import { SEMAPHORE_MUTANTS } from './semaphore-mutants.mjs';
import { SIMULATION_MUTANTS } from './simulation-mutants.mjs';
import { SWEEP_MUTANTS } from './sweep-mutants.mjs';
import { TELEMETRY_MUTANTS } from './telemetry-mutants.mjs';
import { TESTING_KIT_MUTANTS } from './testing-kit-mutants.mjs';
import { TORTURE_MUTANTS } from './torture-mutants.mjs';
import { TRUST_MUTANTS } from './trust-mutants.mjs';
import { WAIT_REPLICAS_MUTANTS } from './wait-replicas-mutants.mjs';
import { BROWSER_MUTANTS } from './browser-mutants.mjs';
import { WEB_MUTANTS } from './web-mutants.mjs';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const MUTANTS = [
  ...API_MUTANTS,
  ...CHAOS_MUTANTS,
  ...CLAIM_MUTANTS,
  ...ATTEMPT_MUTANTS,
  ...ATTEMPT_BATCH_MUTANTS,
  ...LEASE_MUTANTS,
  ...LEASE_CROWD_MUTANTS,
  ...LEASES_MUTANTS,
  ...MODEL_MUTANTS,
  ...PROMELA_MUTANTS,
  ...TORTURE_MUTANTS,
  ...TRUST_MUTANTS,
  ...POSTGRES_MUTANTS,
  ...ETCD_MUTANTS,
  ...PULSE_MUTANTS,
  ...PUNCTUAL_MUTANTS,
  ...QUESTIONS_MUTANTS,
  ...QUORUM_MUTANTS,
  ...NODE_HEALTH_MUTANTS,
  ...FENCED_VALUES_MUTANTS,
  ...SEMAPHORE_MUTANTS,
  ...SIMULATION_MUTANTS,
  ...SEMAPHORE_FORGET_MUTANTS,
  ...COORDINATION_MUTANTS,
  ...TELEMETRY_MUTANTS,
  ...MEMORY_MUTANTS,
  ...METRICS_MUTANTS,
  ...JOBS_MUTANTS,
  ...CATALOG_MUTANTS,
  ...CATALOG_LOSS_MUTANTS,
  ...DECLARATION_MUTANTS,
  ...OPERATING_MUTANTS,
  ...OPERATING_DESK_MUTANTS,
  ...DOCTOR_MUTANTS,
  ...SWEEP_MUTANTS,
  ...LEDGER_CANCEL_MUTANTS,
  ...LEDGER_TRIGGER_MUTANTS,
  ...LEDGER_POLICY_MUTANTS,
  ...PLANNING_MUTANTS,
  ...DISPATCH_MUTANTS,
  ...CLI_MUTANTS,
  ...BALANCE_MUTANTS,
  ...CLASSIFICATION_MUTANTS,
  ...EFFECT_POLICY_MUTANTS,
  ...FOR_EACH_MUTANTS,
  ...JOBS_SERVICE_MUTANTS,
  ...JOURNAL_MUTANTS,
  ...LEDGER_EFFECT_MUTANTS,
  ...LIMITS_MUTANTS,
  ...LISTENER_MUTANTS,
  ...OUTBOX_MUTANTS,
  ...POSTGRES_ATTEMPT_MUTANTS,
  ...POSTGRES_CLAIM_MUTANTS,
  ...POSTGRES_EFFECT_MUTANTS,
  ...POSTGRES_LEDGER_MUTANTS,
  ...POSTGRES_ORDER_MUTANTS,
  ...POSTGRES_PLAIN_MUTANTS,
  ...POSTGRES_POOL_MUTANTS,
  ...POSTGRES_SCHEMA_MUTANTS,
  ...RUN_COUNT_MUTANTS,
  ...RUN_OPERATOR_MUTANTS,
  ...TESTING_KIT_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...SCHEDULE_WIRING_MUTANTS,
  ...REDIS_TARGET_MUTANTS,
  ...WAIT_REPLICAS_MUTANTS,
  ...ALARM_MUTANTS,
  ...LOG_MUTANTS,
  ...BROWSER_MUTANTS,
  ...WEB_MUTANTS,
];

/**
 * One for each room that is broken, and each room of specs that is to notice.
 * @param {readonly import('./mutation-lab.mjs').Mutant[]} mutants
 */
export function oneOfEach(mutants) {
  const seen = new Set();
  return mutants.filter(({ file, killedBy }) => {
    const rooms = `${dirname(file)} ${dirname(killedBy)}`;
    const isNew = !seen.has(rooms);
    seen.add(rooms);
    return isNew;
  });
}
