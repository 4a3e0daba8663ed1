import { SetupError } from '@fencepost/lease';
import { textOf } from '@fencepost/lease/internal/texts';
import { identifier, type SqlClient } from '@fencepost/lease/postgres';
import { sqlState } from './postgres-failure.js';
import { createHash } from 'node:crypto';
import { TEXTS } from './sql/texts.js';

/** The schema, or the table in it, isn't there. */
const MISSING = new Set(['42P01', '3F000']);

export interface InstalledLedger {
  /** 0: none. */
  readonly version: number;
  /** The lowest version of a build that works with these tables. */
  readonly minimum: number;
  /** Whether the functions of this build are there. */
  readonly functions: boolean;
}

const NOTHING: InstalledLedger = { version: 0, minimum: 0, functions: false };

export async function installedLedger(client: SqlClient, schema: string): Promise<InstalledLedger> {
  try {
    const text = INSTALLED.replace(':table', () => identifier(schema, 'ledger_version').text);
    const { rows } = await client.query({ text, values: [schema, functionOf('now_ms')] });
    const [row] = rows as InstalledLedger[];
    return row ?? NOTHING;
  } catch (error) {
    if (MISSING.has(sqlState(error) ?? '')) return NOTHING;
    throw error;
  }
}

/** Why this build can't work with a ledger, in one sentence with what to do; `null`: it can. */
export function refusalOf(schema: string, installed: InstalledLedger): string | null {
  const { version, functions } = installed;
  if (isTooNew(installed)) return tooNew(schema, installed);
  if (version >= LEDGER_VERSION && functions) return null;
  const found = version === 0 ? 'found none' : `found version ${version}${functions ? '' : ' without its functions'}`;
  return (
    `Expected the ledger's tables of version ${LEDGER_VERSION} in the schema ${JSON.stringify(schema)} of PostgreSQL, and the ` +
    `functions of this build, ${found}. Run "fencepost migrate" once before, or set "migrate: true" in the option "postgres" ` +
    `of JobsModule (FENCEPOST_MIGRATE=true for a pod).`
  );
}

/** Whether a newer release has taken away what this build works with. */
export function isTooNew({ minimum }: InstalledLedger): boolean {
  return minimum > LEDGER_VERSION;
}

export function tooNew(schema: string, { version, minimum }: InstalledLedger): string {
  return (
    `Expected the ledger's tables in the schema ${JSON.stringify(schema)} of PostgreSQL to admit builds of version ` +
    `${LEDGER_VERSION}, found version ${version}, which admits them from ${minimum} on: a newer release of @fencepost/jobs ` +
    `migrated them. Update @fencepost/jobs here too.`
  );
}

/** @throws {SetupError} unless this build can work with the tables */
export async function checkLedgerVersion(client: SqlClient, schema: string): Promise<void> {
  const refusal = refusalOf(schema, await installedLedger(client, schema));
  if (refusal !== null) throw new SetupError(refusal);
}

/** One step between two versions of the tables. */
export interface MigrationStep {
  readonly version: number;
  readonly name: string;
  /** `expand`: every build that worked before works on. `contract`: only those from `minimum` on do. */
  readonly phase: 'expand' | 'contract';
  readonly minimum: number;
  /** Which locks it takes, and for how long; `null` where no ledger in use can be this old. */
  readonly locks: string | null;
}

/** One numbered file of `sql/migrations`; never changed again once it was released. */
export interface Migration extends MigrationStep {
  readonly text: string;
  /** What undoes it without a loss; `null`: nothing does. */
  readonly down: string | null;
}

function read(path: string): string {
  return textOf(TEXTS, path);
}

function listed(folder: string): string[] {
  const inside = Object.keys(TEXTS).filter((name) => name.startsWith(`${folder}/`));
  return inside.map((name) => name.slice(folder.length + 1)).toSorted();
}

/** A step that says nothing of its phase leaves no older build at work, as those before the first release did. */
function readMigration(file: string, before: Migration | undefined): Migration {
  const version = Number.parseInt(file, 10);
  const text = read(`migrations/${file}`);
  const [phase = 'contract', minimum = version, locks = null] = ['Phase', 'Minimum', 'Locks'].map(
    (word) => new RegExp(`^-- ${word} {2}(.+)$`, 'm').exec(text)?.[1],
  );
  return {
    version,
    name: file.replace(/^\d+-|\.sql$/g, ''),
    phase: phase === 'expand' ? 'expand' : 'contract',
    minimum: phase === 'expand' ? (before?.minimum ?? version) : Number(minimum),
    locks,
    text,
    down: TEXTS[`down/${file}`] ?? null,
  };
}

export const MIGRATIONS = listed('migrations').reduce<readonly Migration[]>(
  (before, file) => [...before, readMigration(file, before.at(-1))],
  [],
);

/** Of the tables that this build works with, and of every later version that still admits it. */
export const LEDGER_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

const WRITTEN = listed('functions')
  .map((name) => read(`functions/${name}`))
  .join('\n');
const BUILD = `v${LEDGER_VERSION}_${createHash('sha256').update(WRITTEN).digest('hex').slice(0, 8)}`;
const NAMES = [...WRITTEN.matchAll(/^create or replace function (\w+)\(/gm)].map(([, name]) => name);

/** The name that a function has in the database: every build calls its own, whichever others are there. */
export function functionOf(name: string): string {
  return `${name}_${BUILD}`;
}

/** All functions as one text, under the names of this build. */
export const FUNCTIONS = WRITTEN.replace(new RegExp(`\\b(?:${NAMES.join('|')})(?=\\()`, 'g'), functionOf);

export const OPEN_MIGRATION = read('open-migration.sql');
export const CREATE_VERSIONS = read('create-versions.sql');
export const DROP_OLD_FUNCTIONS = read('drop-old-functions.sql');
const INSTALLED = read('read-installed.sql');

/** Where the ledger's tables and functions are. */
export interface LedgerSchema {
  /** Default `fencepost`. */
  readonly schema?: string;
}

export const DEFAULT_SCHEMA = 'fencepost';
