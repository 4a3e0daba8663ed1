import { redactUrl } from '@fencepost/lease/internal/redis';
import type { SqlPool } from '@fencepost/lease/postgres';
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
    await reach(pool, url);
    return await work(pool);
  } finally {
    await pool.end();
  }
}

async function reach(pool: Pool, url: string): Promise<void> {
  try {
    await pool.query('select 1');
  } catch (error) {
    const why = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : messageOf(error);
    throw new StoreError(
      `PostgreSQL could not be reached at ${redactUrl(url)} (${why}). Start it, or correct --postgres or DATABASE_URL.`,
      { cause: error },
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
