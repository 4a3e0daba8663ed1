import { SetupError } from '@fencepost/lease';
import { identifier, type SqlClient } from '@fencepost/lease/postgres';
import { sqlState } from './postgres-failure.js';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

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

/** One numbered file of `sql/migrations`; never changed again once it was released. */
interface Migration {
  readonly version: number;
  readonly text: string;
}

function read(path: string): string {
  return readFileSync(new URL(`./sql/${path}`, import.meta.url), 'utf8');
}

function listed(folder: string): string[] {
  return readdirSync(new URL(`./sql/${folder}/`, import.meta.url))
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
}

export const MIGRATIONS: readonly Migration[] = listed('migrations').map((name) => ({
  version: Number.parseInt(name, 10),
  text: read(`migrations/${name}`),
}));

/** What this release works with. */
export const LEDGER_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** All of them, as one text: a signature changes only with a migration, so replacing them disturbs nobody. */
export const FUNCTIONS = listed('functions')
  .map((name) => read(`functions/${name}`))
  .join('\n');

export const FUNCTIONS_HASH = createHash('sha256').update(FUNCTIONS).digest('hex');

export const OPEN_MIGRATION = read('open-migration.sql');
export const CREATE_VERSIONS = read('create-versions.sql');

/** Where the ledger's tables and functions are. */
export interface LedgerSchema {
  /** Default `fencepost`. */
  readonly schema?: string;
}

export const DEFAULT_SCHEMA = 'fencepost';
