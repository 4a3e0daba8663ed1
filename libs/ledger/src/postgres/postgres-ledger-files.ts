import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** One numbered file of `sql/migrations`; never changed again once it was released. */
export interface Migration {
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
