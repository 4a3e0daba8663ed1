import { SetupError } from '@fencepost/lease';
import { identifier, type SqlClient, type SqlPool } from '@fencepost/lease/postgres';
import {
  CREATE_VERSIONS,
  DEFAULT_SCHEMA,
  DROP_OLD_FUNCTIONS,
  FUNCTIONS,
  LEDGER_VERSION,
  MIGRATIONS,
  OPEN_MIGRATION,
  installedLedger,
  isTooNew,
  refusalOf,
  tooNew,
  type LedgerSchema,
  type Migration,
  type MigrationStep,
} from './postgres-ledger-version.js';

export interface LedgerMigration {
  /** The version that was found, 0 for none. */
  readonly from: number;
  readonly to: number;
}

/** What a migration would do. */
export interface MigrationPlan extends LedgerMigration {
  /** The lowest version of a build that works with the tables afterwards. */
  readonly minimum: number;
  readonly steps: readonly MigrationStep[];
  /** Whether the functions of this build would be installed: beside those of the others. */
  readonly functions: boolean;
  /** Why this build can't work with the tables as they are; `null`: it can. */
  readonly refusal: string | null;
}

/**
 * Brings the ledger's tables in a schema to this release and installs its functions; creates the schema unless it is there. To
 * be called by every process at its start, also by many at once: one does it, in one transaction, and the others wait and find
 * it done. Tables that a newer release has expanded stay as they are.
 *
 * A role that may not create needs nothing where somebody else has migrated: it is looked first. Whoever uses the ledger needs
 * USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables.
 * @param pool sends a text without values as one simple query, as `pg` does
 * @param options with `down` the newest step is undone instead
 * @throws {SetupError} when a newer release has migrated the schema beyond this one, or a step can't be undone without a loss;
 *   nothing is changed then
 */
export async function migrateLedger(
  pool: SqlPool,
  { schema = DEFAULT_SCHEMA, down = false }: LedgerSchema & { readonly down?: boolean } = {},
): Promise<LedgerMigration> {
  const connection = await pool.connect();
  let sound = false;
  try {
    const found = await installedLedger(connection, schema);
    const done = !down && refusalOf(schema, found) === null;
    const work = down ? undo : migrate;
    const migration = done ? { from: found.version, to: found.version } : await work(connection, schema);
    sound = true;
    return migration;
  } finally {
    // Closed rather than reused after a failure: its transaction goes with it.
    connection.release(!sound);
  }
}

/** What {@link migrateLedger} would do in a schema. Changes nothing. */
export async function planMigration(
  client: SqlClient,
  { schema = DEFAULT_SCHEMA }: LedgerSchema = {},
): Promise<MigrationPlan> {
  const found = await installedLedger(client, schema);
  const steps = stepsAfter(found.version).map(({ text: _, down: __, ...step }) => step);
  return {
    from: found.version,
    to: Math.max(found.version, LEDGER_VERSION),
    minimum: steps.at(-1)?.minimum ?? found.minimum,
    steps,
    functions: !found.functions,
    refusal: refusalOf(schema, found),
  };
}

function stepsAfter(version: number): readonly Migration[] {
  return MIGRATIONS.filter((step) => step.version > version);
}

async function migrate(client: SqlClient, schema: string): Promise<LedgerMigration> {
  await open(client, schema);
  const found = await installedLedger(client, schema);
  if (isTooNew(found)) throw new SetupError(tooNew(schema, found));
  const { version: from } = found;
  const steps = stepsAfter(from);
  for (const { text } of steps) await client.query({ text });
  for (const step of steps) {
    const text = 'insert into ledger_version (version, minimum) values ($1, $2)';
    await client.query({ text, values: [step.version, step.minimum] });
  }
  await client.query({ text: `${DROP_OLD_FUNCTIONS}; ${FUNCTIONS}; commit` });
  return { from, to: Math.max(from, LEDGER_VERSION) };
}

async function open(client: SqlClient, schema: string): Promise<void> {
  await client.query({ text: OPEN_MIGRATION });
  // The temporary tables last: a session's own "run" would else stand before the ledger's.
  const place = identifier(schema).text;
  await client.query({
    text: `create schema if not exists ${place}; set local search_path to ${place}, pg_temp; ${CREATE_VERSIONS}`,
  });
}

async function undo(client: SqlClient, schema: string): Promise<LedgerMigration> {
  await open(client, schema);
  const { version: from } = await installedLedger(client, schema);
  const step = MIGRATIONS.find(({ version }) => version === from);
  const where = `the ledger's tables in the schema ${JSON.stringify(schema)}`;
  if (!step && from > LEDGER_VERSION) {
    throw new SetupError(
      `Expected ${where} to be of version ${LEDGER_VERSION} at most, found version ${from}: only the release that made it can undo it.`,
    );
  }
  if (!step?.down) {
    const why = from === 0 ? 'there are none' : `version ${from} can't be undone without losing data`;
    throw new SetupError(`Can't take ${where} back by one version: ${why}. Nothing was changed.`);
  }
  await client.query({ text: step.down });
  await client.query({ text: 'delete from ledger_version where version = $1', values: [from] });
  await client.query({ text: 'commit' });
  return { from, to: from - 1 };
}
