import type { CatalogEntry } from './definition.js';

/** Crons whose newest definition was accepted from a process with another tz database than this one has. */
export interface ForeignZoneData {
  readonly theirs: string;
  readonly ours: string;
  readonly crons: readonly string[];
}

type Declared = Pick<CatalogEntry, 'definition' | 'zoneData' | 'state'>;

/**
 * Notices crons that were declared with another tz database, each version once: where the two disagree about a zone, so do
 * the pods about its instants. UTC is the same in all of them.
 */
export class ZoneDataWatch {
  readonly #logged = new Set<string>();

  /** @param ours version of the tz database of this process */
  constructor(private readonly ours: string = process.versions.tz ?? 'unknown') {}

  /** What is new among all entries of the catalog. */
  look(entries: readonly Declared[]): ForeignZoneData[] {
    const byVersion = new Map<string, string[]>();
    for (const { definition, zoneData, state } of entries) {
      if (state !== 'active' || zoneData === this.ours || definition.timeZone === 'UTC') continue;
      if (!this.#logged.has(zoneData)) byVersion.set(zoneData, [...(byVersion.get(zoneData) ?? []), definition.name]);
    }
    for (const theirs of byVersion.keys()) this.#logged.add(theirs);
    return [...byVersion].map(([theirs, crons]) => ({ theirs, ours: this.ours, crons }));
  }
}
