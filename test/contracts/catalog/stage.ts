import type {
  AppRevision,
  Catalog,
  CatalogEntry,
  CronDefinition,
  Declaration,
  DeclaredCron,
  Declarer,
} from '@fencepost/ledger/catalog';

/** What a catalog's spec has to offer, so that the contract can drive it. */
export interface CatalogHarness {
  /** Empty, and nobody else's; its processes have {@link ZONE_DATA}. */
  readonly catalog: Catalog;
  /** The same store, as another process sees it. */
  readonly elsewhere: Catalog;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
  /** Makes every tombstone so much older, milliseconds. */
  readonly age: (ms: number) => Promise<void>;
  /** All of it is gone, as with a store that was wiped. */
  readonly wipe: () => Promise<void>;
}

export type MakeCatalogHarness = (options?: { readonly maxCrons?: number }) => Promise<CatalogHarness>;

export const ZONE_DATA = '2026z';
export const HOUR_MS = 60 * 60_000;
export const DAY_MS = 24 * HOUR_MS;

/** What came of a declaration, by cron: all but `same` and `noted`, which change no definition. */
export function told(reply: readonly DeclaredCron[]): Record<string, string> {
  const notable = reply.filter(({ word }) => word !== 'same' && word !== 'noted');
  return Object.fromEntries(
    notable.map(({ cron: name, word, revision, app }) => [name, [word, revision, app].filter(Boolean).join(' ')]),
  );
}

export const OTHER = { expression: '0 4 * * *' };
export const THIRD = { expression: '0 5 * * *' };

export function cron(over: Partial<CronDefinition> = {}, disabled = false): Declaration {
  const definition: CronDefinition = {
    name: 'nightly-report',
    expression: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    misfire: 'fire-once',
    overlap: 'skip',
    graceMs: 60_000,
    catchUpWindowMs: null,
    ...over,
  };
  return { definition, disabled };
}

export const named = (...names: readonly string[]): Declaration[] => names.map((name) => cron({ name }));

/** A revision of an app that declares. */
export const by = (revision: number, app = 'shop', rest: Partial<Declarer> = {}): Declarer => ({
  app,
  revision,
  ...rest,
});

export const gone = (revision: number, app = 'shop'): AppRevision => ({ app, revision });

/** What a person asks for. */
export const order = (expected: number | null) => ({ expected, by: 'ana', reason: 'for the test' });

/** The state, generation and expression of each cron. */
export async function briefly(catalog: Catalog): Promise<Record<string, string>> {
  const { entries } = await catalog.read();
  const brief = ({ state, generation, definition }: CatalogEntry) => `${state} ${generation} ${definition.expression}`;
  return Object.fromEntries(entries.map((entry) => [entry.definition.name, brief(entry)]));
}

export async function entryOf(catalog: Catalog, name = 'nightly-report'): Promise<CatalogEntry> {
  const { entries } = await catalog.read();
  const found = entries.find(({ definition }) => definition.name === name);
  if (!found) throw new Error(`Expected the catalog to have "${name}".`);
  return found;
}
