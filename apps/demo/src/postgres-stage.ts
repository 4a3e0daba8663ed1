import { migrateLedger, PostgresCatalog, PostgresLedger } from '@fencepost/jobs';
import type { KeySpace } from '@fencepost/lease/internal/redis';
import { identifier, sql } from '@fencepost/lease/postgres';
import type { RedisClient } from '@fencepost/lease/redis';
import { Pool } from 'pg';

/** A database of which the demo has one schema. */
export interface PostgresStage {
  readonly ledger: PostgresLedger;
  catalogAnnouncedOn(redis: RedisClient): PostgresCatalog;
  /** What the pods have to know. */
  readonly env: Readonly<Record<string, string>>;
  /** @param keep whether what happened stays there */
  close(keep: boolean): Promise<void>;
}

/** Of whatever is there of this name nothing is kept: the tenth demo on one database knows nothing of the ninth. */
const SCHEMA = 'fencepost_demo';

const TIMEOUT_MS = 5_000;

/** @throws {Error} when the database can't be reached */
export async function openPostgres({ url, ...space }: KeySpace & { readonly url: string }): Promise<PostgresStage> {
  const pool = new Pool({
    connectionString: url,
    max: 4,
    query_timeout: TIMEOUT_MS,
    connectionTimeoutMillis: TIMEOUT_MS,
  });
  // A connection that breaks while nobody uses it; whoever needs one next finds out.
  pool.on('error', () => {});
  try {
    await forget(pool);
    await migrateLedger(pool, { schema: SCHEMA });
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    ledger: new PostgresLedger({ pool, schema: SCHEMA, ...space }),
    catalogAnnouncedOn: (redis) => new PostgresCatalog({ pool, schema: SCHEMA, ...space, redis }),
    env: { FENCEPOST_LEDGER: 'postgres', DATABASE_URL: url, FENCEPOST_SCHEMA: SCHEMA },
    close: async (keep) => {
      if (!keep) await forget(pool).catch(() => {});
      await pool.end();
    },
  };
}

async function forget(pool: Pool): Promise<void> {
  await pool.query(sql`drop schema if exists ${identifier(SCHEMA)} cascade`);
}
