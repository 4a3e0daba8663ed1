import type { Catalog, CatalogChanges, CatalogReading, UnreadableRecord } from './catalog.js';
import { byName } from './declaring.js';
import type { CatalogEntry } from './definition.js';

/** What a reader that knew one version needs to know the present one. */
export interface CatalogDelta extends Pick<CatalogChanges, 'version' | 'readAt'> {
  /** Whether this is the whole catalog: a cron that isn't in it is gone. */
  readonly whole: boolean;
  readonly bornAt: number | null;
  /** By name, each once. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  readonly unreadable: readonly UnreadableRecord[];
  readonly gone: readonly string[];
}

type Source = Pick<Catalog, 'since'>;

/**
 * The pages of what changed after a version (`null`: of everything), and a last `null` where the catalog can't say it. The store
 * looks for the next page while one is read.
 */
export async function* changePages(
  catalog: Source,
  version: number | null,
  limit?: number,
): AsyncGenerator<CatalogChanges | null, void> {
  let asked: Promise<CatalogChanges | null> | null = catalog.since(version, null, limit);
  while (asked) {
    const page: CatalogChanges | null = await asked;
    asked = page?.next ? catalog.since(version, page.next, limit) : null;
    // What goes wrong is met at the next turn, or by nobody: the reader may have enough.
    asked?.catch(() => {});
    // Clients send at the end of a tick of the event loop.
    if (asked) await new Promise<void>((resolve) => process.nextTick(resolve));
    yield page;
  }
}

/** A catalog that changes faster than it can be read is read again next time. */
const MAX_TRIES = 5;

/**
 * What changed after a version, or all of the catalog where it can't say that, page by page.
 * @throws {Error} when the catalog could not say it several times in a row
 */
export async function readChanges(catalog: Source, version: number | null): Promise<CatalogDelta> {
  let from = version;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const delta = await readPages(catalog, from);
    if (delta) return delta;
    from = null;
  }
  throw new Error(`The catalog changed ${MAX_TRIES} times while it was read, and lost count of its changes each time.`);
}

/** All of it at once: for tests and tools whose catalogs are small. */
export async function readWhole(catalog: Source): Promise<CatalogReading> {
  const { version, readAt, bornAt, entries, unreadable } = await readChanges(catalog, null);
  return { version, readAt, bornAt, entries: [...entries.values()].toSorted(byName), unreadable };
}

async function readPages(catalog: Source, version: number | null): Promise<CatalogDelta | null> {
  const entries = new Map<string, CatalogEntry>();
  const unreadable = new Map<string, UnreadableRecord>();
  const gone = new Set<string>();
  let last: CatalogChanges | null = null;
  for await (const page of changePages(catalog, version)) {
    if (!page) return null;
    last = page;
    // What a cron was on an earlier page is over.
    for (const entry of page.entries) {
      const { name } = entry.definition;
      entries.set(name, entry);
      unreadable.delete(name);
      gone.delete(name);
    }
    for (const record of page.unreadable ?? []) {
      entries.delete(record.name);
      unreadable.set(record.name, record);
      gone.delete(record.name);
    }
    for (const name of page.gone) {
      entries.delete(name);
      unreadable.delete(name);
      gone.add(name);
    }
  }
  return last && deltaOf(last, { whole: version === null, entries, unreadable, gone });
}

interface Collected {
  readonly whole: boolean;
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  readonly unreadable: ReadonlyMap<string, UnreadableRecord>;
  readonly gone: ReadonlySet<string>;
}

function deltaOf(last: CatalogChanges, { whole, entries, unreadable, gone }: Collected): CatalogDelta {
  const { version, readAt, bornAt = null } = last;
  return { version, readAt, bornAt, whole, entries, unreadable: [...unreadable.values()], gone: [...gone] };
}
