import type { CatalogChanges, CatalogReading, UnreadableRecord } from './catalog.js';
import { checkFormat, FIRST_FORMAT } from '../base/format.js';
import { byName } from './declaring.js';
import type { CatalogEntry, CronDefinition, CronState, Generation } from './definition.js';
import { revisionOf } from './revision.js';

/** Who had a generation accepted, as it is kept with it. */
export interface Who {
  readonly by: string;
  readonly reason: string | null;
  readonly zoneData: string;
}

/** As it is kept, with the format of its generation. */
export function whoText(who: Who, format = FIRST_FORMAT): string {
  return JSON.stringify({ format, ...who });
}

export type RawReading = readonly [
  version: string,
  readAt: string,
  crons: readonly string[],
  declared: readonly string[],
  bornAt: string,
];

/** `<format> <order> <hash> <state> <app>`, see declared-record.lua; a table has no format. */
const DECLARED = /^(?:(\d+) )?(\d+) [\da-f]+ [a-z]+ ([^\t]*)/;

/** @param reader shared by readings of one process, so that what their crons have in common is there once */
export function readReading(
  [version, readAt, crons, declared, born]: RawReading,
  reader = new LineReader(),
): CatalogReading & { readonly unreadable: readonly UnreadableRecord[] } {
  const { entries, unreadable } = readRecords(crons, declared, reader);
  return {
    version: Number(version),
    readAt: Number(readAt),
    bornAt: bornAt(born),
    entries: entries.toSorted(byName),
    unreadable,
  };
}

function bornAt(text: string): number | null {
  return text === '' ? null : Number(text);
}

export type RawChanges = readonly [...raw: RawReading, gone: readonly string[], next: string];

/**
 * Decodes the crons when they are asked for, so that a reader can have the store look for the next page meanwhile.
 * @param reader as `readReading` has it
 */
export function readChangesPage(
  [version, readAt, crons, declared, born, gone, next]: RawChanges,
  reader: LineReader,
): CatalogChanges {
  let read: ReadRecords | undefined;
  const records = () => (read ??= readRecords(crons, declared, reader));
  return {
    version: Number(version),
    readAt: Number(readAt),
    bornAt: bornAt(born),
    get entries() {
      return records().entries;
    },
    get unreadable() {
      return records().unreadable;
    },
    gone,
    next: next === '' ? null : next,
  };
}

function pairs(flat: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let at = 0; at < flat.length; at += 2) map.set(flat[at] ?? '', flat[at + 1] ?? '');
  return map;
}

const NONE: readonly Generation[] = [];

/** Field by field: of an object that is spread into a larger one, V8 keeps a shape of its own for each cron. */
function readEntry(lines: string, declared: string, reader: LineReader): CatalogEntry {
  const [newest = '', ...older] = lines.split('\n');
  const { zoneData, generation } = reader.read(newest);
  const [, format, order, app = ''] = DECLARED.exec(declared) ?? [];
  if (format !== undefined) checkFormat('a declaration', format, declared);
  return {
    generation: generation.generation,
    state: generation.state,
    definition: generation.definition,
    since: generation.since,
    by: generation.by,
    reason: generation.reason,
    past: older.length === 0 ? NONE : reader.past(older).toReversed(),
    app: app === '' ? null : reader.one(app),
    revision: app === '' ? null : revisionOf(Number(order)),
    zoneData,
    ...(generation.renumberedAt === undefined ? {} : { renumberedAt: generation.renumberedAt }),
  };
}

/** Texts that many crons may share, such as expressions; beyond so many different ones they are not shared. */
const MAX_SHARED = 10_000;

/** Reads lines so that what a hundred thousand crons have in common is kept once: an app is the author of all of its crons. */
export class LineReader {
  readonly #who = new Map<string, Who>();
  readonly #texts = new Map<string, string>();

  /** One line is one generation; see begin-generation.lua. */
  read(line: string): { generation: Generation; zoneData: string } {
    const [number = '', since, state = '', , who = '', definition = ''] = line.split('\t');
    const [generation, renumberedAt] = number.split('@');
    const { by, reason, zoneData } = this.#author(who);
    return {
      zoneData,
      generation: {
        generation: Number(generation),
        state: this.one(state) as CronState,
        definition: this.#definition(definition),
        since: Number(since),
        by,
        reason,
        ...(renumberedAt === undefined ? {} : { renumberedAt: Number(renumberedAt) }),
      },
    };
  }

  /** Newest first, up to the first line that cannot be read; see `readRecords`. */
  past(lines: readonly string[]): Generation[] {
    const read: Generation[] = [];
    for (const line of lines) {
      try {
        read.push(this.read(line).generation);
      } catch {
        break;
      }
    }
    return read;
  }

  /** The text that was read first among equal ones. */
  one(text: string): string {
    const known = this.#texts.get(text);
    if (known === undefined && this.#texts.size < MAX_SHARED) this.#texts.set(text, text);
    return known ?? text;
  }

  #definition(json: string): CronDefinition {
    const read = JSON.parse(json) as { -readonly [K in keyof CronDefinition]: CronDefinition[K] } | null;
    if (typeof read?.expression === 'string') read.expression = this.one(read.expression);
    if (typeof read?.timeZone === 'string') read.timeZone = this.one(read.timeZone);
    return read as CronDefinition;
  }

  #author(line: string): Who {
    const known = this.#who.get(line);
    if (known) return known;
    const { format, ...who } = JSON.parse(line) as Who & { readonly format: number };
    checkFormat('a definition', format);
    if (this.#who.size < MAX_SHARED) this.#who.set(line, who);
    return who;
  }
}

interface ReadRecords {
  readonly entries: CatalogEntry[];
  readonly unreadable: UnreadableRecord[];
}

/**
 * Reads each record by itself: a record that cannot be read, or is no definition, is set aside with its reason, and the others
 * are used. Both lists are in the order of the records.
 */
function readRecords(crons: readonly string[], declared: readonly string[], reader: LineReader): ReadRecords {
  const found: ReadRecords = { entries: [], unreadable: [] };
  const origins = pairs(declared);
  for (const [name, lines] of pairs(crons)) {
    try {
      const entry = readEntry(lines, origins.get(name) ?? '', reader);
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
