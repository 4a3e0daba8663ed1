import type { CatalogEntry, CronDefinition, Generation } from './definition.js';

/** A record of the catalog that no process can use until it is written anew. */
export interface UnreadableRecord {
  readonly name: string;
  readonly reason: string;
}

export interface ReadRecords {
  readonly entries: CatalogEntry[];
  readonly unreadable: UnreadableRecord[];
}

/**
 * Reads each record by itself: a record that cannot be read, or is no definition, is set aside with its reason, and the others
 * are used. Both lists are in the order of the records.
 */
export function readRecords(records: Iterable<readonly [name: string, read: () => CatalogEntry]>): ReadRecords {
  const found: ReadRecords = { entries: [], unreadable: [] };
  for (const [name, read] of records) {
    try {
      const entry = read();
      checkGeneration(name, entry);
      const past = readablePast(name, entry.past);
      // Not copied without need: V8 would keep a shape of its own for each.
      found.entries.push(past === entry.past ? entry : { ...entry, past });
    } catch (error) {
      found.unreadable.push({ name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return found;
}

/**
 * An earlier generation that cannot be read is cut off with those before it, as one is that is too old to be kept: writing the
 * cron anew heals its record.
 */
function readablePast(name: string, past: readonly Generation[]): readonly Generation[] {
  const broken = past.findLastIndex((generation) => !isReadable(name, generation));
  return broken === -1 ? past : past.slice(broken + 1);
}

function isReadable(name: string, generation: Generation): boolean {
  try {
    checkGeneration(name, generation);
    return true;
  } catch {
    return false;
  }
}

/** What the engine relies on. A schedule that cannot be parsed is reported by the pod that tries to. */
function checkGeneration(name: string, { generation, since, state, definition }: Generation): void {
  expect('its generation', 'a whole number from 1', Number.isSafeInteger(generation) && generation > 0, generation);
  expect('its "since"', 'an instant', Number.isSafeInteger(since), since);
  expect('its state', 'a word', /^[a-z]+$/.test(state), state);
  checkDefinition(name, definition);
}

function checkDefinition(name: string, definition: CronDefinition): void {
  expect('its definition', 'an object', typeof definition === 'object' && definition !== null, definition);
  expect('the name in it', JSON.stringify(name), definition.name === name, definition.name);
  for (const option of ['expression', 'timeZone', 'misfire', 'overlap'] as const) {
    expect(`"${option}"`, 'a text', typeof definition[option] === 'string', definition[option]);
  }
  const { graceMs, catchUpWindowMs } = definition;
  expect('"graceMs"', 'a number', Number.isFinite(graceMs), graceMs);
  expect(
    '"catchUpWindowMs"',
    'a number or null',
    catchUpWindowMs === null || Number.isFinite(catchUpWindowMs),
    catchUpWindowMs,
  );
}

function expect(what: string, wanted: string, holds: boolean, found: unknown): void {
  if (!holds) throw new TypeError(`Expected ${what} to be ${wanted}, found ${JSON.stringify(found)?.slice(0, 60)}.`);
}
