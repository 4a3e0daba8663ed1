import { POSTGRES_ACQUIRE_MUTANTS } from './postgres-acquire-mutants.mjs';
import { POSTGRES_BATCH_MUTANTS } from './postgres-batch-mutants.mjs';
import { SQL_FENCE_MUTANTS } from './sql-fence-mutants.mjs';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export const POSTGRES_MUTANTS = [...POSTGRES_ACQUIRE_MUTANTS, ...POSTGRES_BATCH_MUTANTS, ...SQL_FENCE_MUTANTS];
