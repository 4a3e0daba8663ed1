import type { CatalogEntry } from '@fencepost/ledger/catalog';

/** How far two instants of a cron lie apart, milliseconds; `null` for one that has none. */
export type IntervalOf = (entry: CatalogEntry) => number | null;

/**
 * Names of crons, the most important first: those that fire before those that don't, of these the ones somebody set a dead
 * man's switch on, then the rarest. The one run of a night that fails is lost in a sum over all crons; one that fires each
 * second shows in it.
 */
export function byImportance(entries: readonly CatalogEntry[], intervalOf: IntervalOf): string[] {
  const ranked = entries.map((entry) => ({
    name: entry.definition.name,
    rank: entry.state !== 'firing' ? 2 : isWatched(entry) ? 0 : 1,
    intervalMs: intervalOf(entry) ?? 0,
  }));
  ranked.sort((a, b) => a.rank - b.rank || b.intervalMs - a.intervalMs || (a.name < b.name ? -1 : 1));
  return ranked.map(({ name }) => name);
}

function isWatched({ definition }: CatalogEntry): boolean {
  return 'expectEveryMs' in definition && definition.expectEveryMs !== undefined;
}
