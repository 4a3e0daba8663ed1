import { nearNames } from '@fencepost/lease/internal/options';
import type { Catalog, CatalogReading, CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import { UnknownCronError } from './errors.js';

export interface KnownCron {
  readonly entry: CatalogEntry;
  /** The store's clock at the reading. */
  readonly now: number;
}

/** @throws {UnknownCronError} with names that are like it */
export async function knownCron(catalog: Pick<Catalog, 'read'>, cron: string): Promise<KnownCron> {
  const reading = await catalog.read();
  return { entry: entryOf(reading, cron), now: reading.readAt };
}

/**
 * A cron whose runs somebody carries out: one that is only disabled may be asked for a run.
 * @throws {UnknownCronError}
 */
export async function runnableCron(catalog: Pick<Catalog, 'read'>, cron: string): Promise<KnownCron> {
  const known = await knownCron(catalog, cron);
  if (known.entry.state === 'removed') throw UnknownCronError.removed(cron, known.entry.by);
  return known;
}

function entryOf({ entries, unreadable = [] }: CatalogReading, cron: string): CatalogEntry {
  const entry = entries.find(({ definition }) => definition.name === cron);
  if (entry) return entry;
  const broken = unreadable.find(({ name }) => name === cron);
  if (broken) throw UnknownCronError.unreadable(cron, broken.reason);
  throw UnknownCronError.of(
    cron,
    nearNames(
      cron,
      entries.map(({ definition }) => definition.name),
    ),
  );
}

/** Oldest first, the newest included. */
export function generationsOf(entry: CatalogEntry): Generation[] {
  return [...entry.past, entry];
}

/** The generation in force: the newest may be accepted and not effective yet. */
export function effectiveGeneration(entry: CatalogEntry, now: number): Generation {
  return generationsOf(entry).findLast(({ since }) => since <= now) ?? entry;
}
