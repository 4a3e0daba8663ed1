import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { RecordedEvent } from './recording.js';

/** What a process read in the catalog, and had not read before. Times are microseconds of the recorders' clock. */
export interface Knowledge {
  readonly process: string;
  readonly calledAt: number;
  readonly at: number;
  /** By name. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
}

interface KnownDetail {
  readonly calledAt: number;
  readonly entries: readonly CatalogEntry[];
}

/** What pods told of their readings; in the order in which these returned. */
export function knowledgeIn(events: readonly RecordedEvent[]): Knowledge[] {
  return events.flatMap(({ event, process, at, detail }) => {
    if (event !== 'catalog.known') return [];
    const { calledAt, entries } = detail as unknown as KnownDetail;
    return [{ process, calledAt, at, entries: byName(entries) }];
  });
}

export function byName(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  return new Map(entries.map((entry) => [entry.definition.name, entry]));
}
