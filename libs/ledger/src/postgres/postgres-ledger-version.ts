import { SetupError } from '@fencepost/lease';
import { identifier, type SqlClient } from '@fencepost/lease/postgres';
import { sqlState } from './postgres-failure.js';
import { LEDGER_VERSION } from './postgres-ledger-files.js';

/** The schema, or the table in it, isn't there. */
const MISSING = new Set(['42P01', '3F000']);

export interface InstalledLedger {
  /** 0: none. */
  readonly version: number;
  readonly functions: string | null;
}

export async function installedLedger(client: SqlClient, schema: string): Promise<InstalledLedger> {
  const table = identifier(schema, 'ledger_version').text;
  try {
    const { rows } = await client.query({
      text: `select version, functions from ${table} order by version desc limit 1`,
    });
    const [row] = rows as InstalledLedger[];
    return row ?? { version: 0, functions: null };
  } catch (error) {
    if (MISSING.has(sqlState(error) ?? '')) return { version: 0, functions: null };
    throw error;
  }
}

/** @throws {SetupError} unless the tables are those that this release works with */
export async function checkLedgerVersion(client: SqlClient, schema: string): Promise<void> {
  const { version } = await installedLedger(client, schema);
  if (version === LEDGER_VERSION) return;
  if (version > LEDGER_VERSION) throw newerLedger(schema, version);
  const found = version === 0 ? 'found none' : `found version ${version}`;
  throw new SetupError(
    `Expected the ledger's tables of version ${LEDGER_VERSION} in the schema ${JSON.stringify(schema)} of PostgreSQL, ${found}. ` +
      `Run "fencepost migrate" once before, or set "migrate: true" in the option "postgres" of JobsModule ` +
      `(FENCEPOST_MIGRATE=true for a pod).`,
  );
}

export function newerLedger(schema: string, version: number): SetupError {
  return new SetupError(
    `Expected the ledger's tables in the schema ${JSON.stringify(schema)} of PostgreSQL to be of version ${LEDGER_VERSION} at ` +
      `most, found version ${version}: a newer release of @fencepost/jobs migrated them. Update @fencepost/jobs here too.`,
  );
}
