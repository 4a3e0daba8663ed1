import { textOf } from '@fencepost/lease/internal/texts';
import type { SqlClient } from '@fencepost/lease/postgres';
import { readPostgresSettings, type PostgresSettings } from '../base/durability.js';
import { TEXTS } from './sql/texts.js';
import { LEDGER_VERSION, installedLedger, DEFAULT_SCHEMA, type LedgerSchema } from './postgres-ledger-version.js';

export interface PostgresFacts {
  readonly schema: string;
  /** Of the ledger's tables, 0 for none; `null`: this role may not look. */
  readonly version: number | null;
  /** The lowest version of a build that works with them; 0 where there are none. */
  readonly minimum: number;
  /** Of this build. */
  readonly expectedVersion: number;
  /** Whether the functions of this build are there. */
  readonly functionsFit: boolean;
  readonly settings: PostgresSettings;
  /** Rights that the role lacks, such as `UPDATE on run`. */
  readonly missing: readonly string[];
}

const MISSING_RIGHTS = textOf(TEXTS, 'list-missing-rights.sql');

/** What a database says of itself and of the ledger's tables. Changes nothing. @throws what the client throws */
export async function readPostgresFacts(
  client: SqlClient,
  { schema = DEFAULT_SCHEMA }: LedgerSchema = {},
): Promise<PostgresFacts> {
  const settings = await readPostgresSettings(client);
  const { rows } = await client.query({ text: MISSING_RIGHTS, values: [schema] });
  const missing = (rows as { subject: string; right: string }[]).map(({ subject, right }) => `${right} on ${subject}`);
  const common = { schema, settings, missing, expectedVersion: LEDGER_VERSION };
  if (missing.includes(`USAGE on ${schema}`)) return { ...common, version: null, minimum: 0, functionsFit: true };
  const { version, minimum, functions: functionsFit } = await installedLedger(client, schema);
  return { ...common, version, minimum, functionsFit };
}
