import { REMEMBERED_CHANGES } from '../catalog/catalog.js';

export interface SavedChange {
  readonly version: number;
  readonly cron: string;
}

interface PageRequest {
  readonly version: number | null;
  readonly after: string | null;
  readonly limit: number;
  /** The version of the catalog now. */
  readonly current: number;
  /** All crons, by name. */
  readonly names: ReadonlyMap<string, unknown>;
}

interface Page {
  readonly names: readonly string[];
  readonly next: string | null;
}

/** The last changes of the catalog in memory, oldest first: see read-changes.lua, which this file mirrors. */
export class MemoryChangeLog {
  #changes: SavedChange[] = [];

  note(cron: string, version: number): void {
    this.#changes.push({ version, cron });
    if (this.#changes.length > REMEMBERED_CHANGES) this.#changes.shift();
  }

  /** `null`: the log doesn't reach back to the version, or never had it. */
  page({ version, after, limit, current, names }: PageRequest): Page | null {
    const [kind, from = '', last = ''] = after?.split(' ') ?? [];
    if (version === null && kind !== 'log') return this.#wholePage({ from, last, limit, current, names });
    return this.#changesAfter(kind === 'log' ? Number(from) : (version ?? 0), { limit, current });
  }

  /** By name, and then what has changed since the first page. */
  #wholePage({ from, last, limit, current, names }: Omit<PageRequest, 'version' | 'after'> & Cursor): Page | null {
    const start = from === '' ? current : Number(from);
    const page = [...names.keys()]
      .filter((name) => from === '' || name > decodeURIComponent(last))
      .toSorted()
      .slice(0, limit);
    const end = page.at(-1);
    if (end !== undefined && page.length === limit) {
      return { names: page, next: `all ${start} ${encodeURIComponent(end)}` };
    }
    return { names: page, next: start === current ? null : `log ${start}` };
  }

  #changesAfter(version: number, { limit, current }: Pick<PageRequest, 'limit' | 'current'>): Page | null {
    if (version === current) return { names: [], next: null };
    const at = this.#changes.findLastIndex((change) => change.version === version);
    if (at === -1 || this.#changes.at(-1)?.version !== current) return null;
    const page = this.#changes.slice(at + 1, at + 1 + limit);
    const end = page.at(-1)?.version ?? current;
    return { names: [...new Set(page.map(({ cron }) => cron))], next: end === current ? null : `log ${end}` };
  }

  clear(): void {
    this.#changes = [];
  }

  save(): SavedChange[] {
    return [...this.#changes];
  }

  restore(changes: readonly SavedChange[]): void {
    this.#changes = [...changes];
  }
}

interface Cursor {
  readonly from: string;
  readonly last: string;
}
