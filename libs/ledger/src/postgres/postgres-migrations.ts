import { identifier, type SqlClient, type SqlPool } from '@fencepost/lease/postgres';
import {
  CREATE_VERSIONS,
  FUNCTIONS,
  FUNCTIONS_HASH,
  LEDGER_VERSION,
  MIGRATIONS,
  OPEN_MIGRATION,
  installedLedger,
  newerLedger,
  DEFAULT_SCHEMA,
  type LedgerSchema,
} from './postgres-ledger-version.js';

export interface LedgerMigration {
  /** The version that was found, 0 for none. */
  readonly from: number;
  readonly to: number;
}

/**
 * Brings the ledger's tables and functions in a schema to this release; creates the schema unless it is there. To be called by
 * every process at its start, also by many at once: one does it, in one transaction, and the others wait and find it done.
 *
 * A role that may not create needs nothing where somebody else has migrated: it is looked first. Whoever uses the ledger needs
 * USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables.
 * @param pool sends a text without values as one simple query, as `pg` does
 * @throws {SetupError} when a newer release has migrated the schema; nothing is changed then
 */
export async function migrateLedger(
  pool: SqlPool,
  { schema = DEFAULT_SCHEMA }: LedgerSchema = {},
): Promise<LedgerMigration> {
  const connection = await pool.connect();
  let sound = false;
  try {
    const { version, functions } = await installedLedger(connection, schema);
    const done = version === LEDGER_VERSION && functions === FUNCTIONS_HASH;
    const migration = done ? { from: version, to: version } : await migrate(connection, schema);
    sound = true;
    return migration;
  } finally {
    // Closed rather than reused after a failure: its transaction goes with it.
    connection.release(!sound);
  }
}

async function migrate(client: SqlClient, schema: string): Promise<LedgerMigration> {
  await client.query({ text: OPEN_MIGRATION });
  // The temporary tables last: a session's own "run" would else stand before the ledger's.
  const place = identifier(schema).text;
  await client.query({
    text: `create schema if not exists ${place}; set local search_path to ${place}, pg_temp; ${CREATE_VERSIONS}`,
  });
  const { version: from } = await installedLedger(client, schema);
  if (from > LEDGER_VERSION) throw newerLedger(schema, from);
  for (const { version, text } of MIGRATIONS) if (version > from) await client.query({ text });
  await client.query({ text: FUNCTIONS });
  await client.query({
    text:
      'insert into ledger_version (version, functions) values ($1, $2) ' +
      'on conflict (version) do update set functions = excluded.functions where ledger_version.functions <> excluded.functions',
    values: [LEDGER_VERSION, FUNCTIONS_HASH],
  });
  await client.query({ text: 'commit' });
  return { from, to: LEDGER_VERSION };
}
