import { createRequire } from 'node:module';
import { migrateLedger, PostgresLedger } from '@fencepost/ledger/postgres';

const ofRoot = createRequire(new URL('../../package.json', import.meta.url));

/** With its tables made; ten connections, as a pool of `pg` has by default. */
export async function openPostgresLedger(url, space) {
  const { Pool } = ofRoot('pg');
  const pool = new Pool({ connectionString: url });
  await migrateLedger(pool, {});
  return { ledger: new PostgresLedger({ pool, ...space }), close: () => pool.end() };
}
