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
  if (!Number.isSafeInteger(generation) || generation < 1) throw wrong('a whole number as its generation', generation);
  if (!Number.isSafeInteger(since)) throw wrong('an instant as its "since"', since);
  if (!/^[a-z]+$/.test(state)) throw wrong('a word as its state', state);
  checkDefinition(name, definition);
}

function checkDefinition(name: string, definition: CronDefinition): void {
  if (typeof definition !== 'object' || definition === null) throw wrong('an object as its definition', definition);
  if (definition.name !== name) throw wrong(`the name ${JSON.stringify(name)} in its definition`, definition.name);
  for (const option of ['expression', 'timeZone', 'misfire', 'overlap'] as const) {
    if (typeof definition[option] !== 'string') throw wrong(`a text as "${option}"`, definition[option]);
  }
  const { graceMs, catchUpWindowMs: window } = definition;
  if (!Number.isFinite(graceMs)) throw wrong('a number as "graceMs"', graceMs);
  if (window !== null && !Number.isFinite(window)) throw wrong('a number or null as "catchUpWindowMs"', window);
}

function wrong(expected: string, found: unknown): TypeError {
  return new TypeError(`Expected ${expected}, found ${JSON.stringify(found)?.slice(0, 60)}.`);
}
