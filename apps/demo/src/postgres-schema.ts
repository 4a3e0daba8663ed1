import { identifier, sql } from '@fencepost/lease/postgres';
import { Pool } from 'pg';

/** Dropped at the start of each demo: the tenth demo on one database knows nothing of the ninth. */
export const SCHEMA = 'fencepost_demo';

export function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 4, query_timeout: 5_000, connectionTimeoutMillis: 5_000 });
  // An idle connection that breaks is reported by the next query.
  return pool.on('error', () => {});
}

export async function dropSchema(pool: Pool): Promise<void> {
  await pool.query(sql`drop schema if exists ${identifier(SCHEMA)} cascade`);
}
