import { LEASE_MUTANTS } from './lease-mutants.mjs';
import { JOBS_MUTANTS } from './jobs-mutants.mjs';
import { ATTEMPT_MUTANTS } from './ledger-attempt-mutants.mjs';
import { CLAIM_MUTANTS } from './ledger-claim-mutants.mjs';
import { MEMORY_MUTANTS } from './memory-mutants.mjs';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const MUTANTS = [...CLAIM_MUTANTS, ...ATTEMPT_MUTANTS, ...LEASE_MUTANTS, ...MEMORY_MUTANTS, ...JOBS_MUTANTS];
