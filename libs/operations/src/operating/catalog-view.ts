import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { readChanges, type Catalog, type CatalogEntry, type CatalogReading } from '@fencepost/ledger/catalog';
import type { UnreadableRecord } from '@fencepost/ledger/catalog';
import { inSlices, sortInSlices } from './slices.js';

/** Where nobody has asked for so long, a pod has no use for a copy of the catalog. */
const IDLE_MS = 5 * 60_000;

type Known = Required<Omit<CatalogReading, 'bornAt'>> & { readonly bornAt: number | null };

/**
 * The whole catalog, for whoever looks at all crons: read page by page once, then kept up to date by what has changed. Every
 * reading is as new as the question, and costs one call where nothing changed; `entries` is then the same array as before.
 */
export class CatalogView implements Pick<Catalog, 'read'> {
  #known: Known | null = null;
  #reading: Promise<Known> | null = null;
  #waiting: Promise<Known> | null = null;
  #cancel: CancelTimer = () => {};

  constructor(
    private readonly catalog: Pick<Catalog, 'read' | 'since'>,
    private readonly clock: Pick<Clock, 'after'>,
  ) {}

  async read(crons?: readonly string[]): Promise<CatalogReading> {
    return crons ? this.catalog.read(crons) : this.#whole();
  }

  /** Forgets everything; the next question reads it anew. */
  close(): void {
    this.#cancel();
    this.#known = null;
  }

  /** One reading at a time: who asks meanwhile shares the next one, which sees what they have written. */
  #whole(): Promise<Known> {
    if (this.#reading) {
      this.#waiting ??= this.#reading.then(this.#next, this.#next);
      return this.#waiting;
    }
    this.#reading = this.#read().finally(() => (this.#reading = null));
    return this.#reading;
  }

  readonly #next = (): Promise<Known> => {
    this.#waiting = null;
    return this.#whole();
  };

  async #read(): Promise<Known> {
    const before = this.#known;
    const delta = await readChanges(this.catalog, before?.version ?? null);
    const { version, readAt, bornAt, whole } = delta;
    const changed = await sortInSlices([...delta.entries.values()], byName);
    const gone = new Set([...delta.gone, ...delta.unreadable.map(({ name }) => name)]);
    const unreadable = new Map<string, UnreadableRecord>(
      whole ? [] : (before?.unreadable ?? []).map((record) => [record.name, record]),
    );
    for (const name of [...delta.gone, ...delta.entries.keys()]) unreadable.delete(name);
    for (const record of delta.unreadable) unreadable.set(record.name, record);
    const entries =
      whole || !before
        ? changed
        : changed.length + gone.size === 0
          ? before.entries
          : await inSlices(merged(before.entries, changed, gone));
    this.#known = { version, readAt, bornAt, entries, unreadable: [...unreadable.values()] };
    this.#cancel();
    this.#cancel = this.clock.after(IDLE_MS, () => this.close());
    return this.#known;
  }
}

/** The entries with those that changed in their places, and without those that are gone. What lies between is only copied. */
function* merged(
  entries: readonly CatalogEntry[],
  changed: readonly CatalogEntry[],
  gone: ReadonlySet<string>,
): Generator<void, CatalogEntry[]> {
  const now = new Map(changed.map((entry) => [entry.definition.name, entry]));
  const names = [...now.keys(), ...[...gone].filter((name) => !now.has(name))].toSorted(compare);
  const result: CatalogEntry[] = [];
  let from = 0;
  const copy = (to: number) => {
    for (; from < to; from += 1) result.push(entries[from] as CatalogEntry);
  };
  for (const name of names) {
    copy(placeOf(entries, name, from));
    if (entries[from]?.definition.name === name) from += 1;
    const entry = now.get(name);
    if (entry) result.push(entry);
    yield;
  }
  copy(entries.length);
  return result;
}

/** Of the first one that does not come before the name. */
function placeOf(entries: readonly CatalogEntry[], name: string, start: number): number {
  let [from, to] = [start, entries.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (compare(entries[middle]?.definition.name ?? '', name) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function byName(a: CatalogEntry, b: CatalogEntry): number {
  return compare(a.definition.name, b.definition.name);
}
