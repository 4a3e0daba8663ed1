import type { SqlPool } from '@fencepost/lease';
import { Pool } from 'pg';
import { StoreError } from '../exit.js';
import type { DatabaseAddress } from './store-options.js';

const TIMEOUT_MS = 5_000;

/**
 * Does `work` with an open database, which is closed again whatever becomes of it.
 * @throws {StoreError} when it can't be reached
 */
export async function withPool<Result>(
  { url }: Pick<DatabaseAddress, 'url'>,
  work: (pool: SqlPool) => Promise<Result>,
): Promise<Result> {
  const pool = new Pool({
    connectionString: url,
    max: 4,
    query_timeout: TIMEOUT_MS,
    connectionTimeoutMillis: TIMEOUT_MS,
    application_name: 'fencepost-cli',
  });
  // A connection that breaks while nobody uses it; whoever needs one next finds out.
  pool.on('error', () => {});
  try {
    await reach(pool);
    return await work(pool);
  } finally {
    await pool.end();
  }
}

async function reach(pool: Pool): Promise<void> {
  try {
    await pool.query('select 1');
  } catch (error) {
    throw new StoreError(`PostgreSQL could not be reached: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
