import type { Clock } from '@fencepost/lease';
import {
  compareIds,
  IDS_ABOUT_MANY,
  isJournalId,
  JOURNAL_LIMITS,
  keptUnder,
  listOf,
  MANY,
  mayConcern,
  newestFirst,
  readable,
} from './journal.js';
import type { Journal, JournalEntry, JournalLimits, JournalQuery, NewJournalEntry } from './journal.js';

export interface MemoryJournalOptions {
  /** The store's. */
  readonly clock: Clock;
  readonly limits?: Partial<JournalLimits>;
}

interface Kept {
  readonly name: string;
  readonly entry: JournalEntry;
}

interface List {
  /** The oldest first. */
  kept: Kept[];
  /** Of the entry added last. */
  at: number;
  count: number;
  /** When something was added last, by the store's clock, which may go back. */
  addedAt: number;
}

const ALL = 'all';

/** What happened lately, in memory, for tests: an adapter like `RedisJournal`, on the same contract suite. */
export class MemoryJournal implements Journal {
  readonly #clock: Clock;
  readonly #limits: JournalLimits;
  readonly #lists = new Map<string, List>();

  constructor({ clock, limits }: MemoryJournalOptions) {
    this.#clock = clock;
    this.#limits = { ...JOURNAL_LIMITS, ...limits };
  }

  async append(entries: readonly NewJournalEntry[]): Promise<void> {
    this.#forget();
    for (const entry of entries) {
      this.#add(ALL, ALL, entry);
      const name = keptUnder(entry);
      if (name !== null) this.#add(this.#listNamed(name), name, entry);
    }
  }

  async ofCron(cron: string, { limit, before }: JournalQuery): Promise<JournalEntry[]> {
    const own = this.#entries(this.#listNamed(cron)).filter(({ name }) => name === cron);
    const many = this.#entries(MANY).filter(({ entry }) => mayConcern(cron, entry));
    return newestFirst([...own, ...many].flatMap(olderThan(before)), readable(limit));
  }

  async latest({ limit, before }: JournalQuery): Promise<JournalEntry[]> {
    return newestFirst(this.#entries(ALL).flatMap(olderThan(before)), readable(limit));
  }

  async since(after: string | null, limit: number): Promise<JournalEntry[]> {
    if (!isJournalId(after)) return [];
    const later = this.#entries(ALL).filter(({ entry: { id } }) => compareIds(id, after) > 0);
    return later.slice(0, readable(limit)).map(({ entry }) => entry);
  }

  async head(): Promise<string | null> {
    return this.#entries(ALL).at(-1)?.entry.id ?? null;
  }

  #add(of: string, name: string, entry: NewJournalEntry): void {
    const list = this.#lists.get(of) ?? { kept: [], at: -1, count: 0, addedAt: -Infinity };
    this.#lists.set(of, list);
    this.#dropBeyondShare(of, list, name);
    const now = this.#clock.now();
    // A clock that went back moves no entry before another one.
    const at = Math.max(now, list.at);
    list.count = at === list.at ? list.count + 1 : 0;
    [list.at, list.addedAt] = [at, now];
    const id = `${at}-${list.count + (of === MANY ? IDS_ABOUT_MANY : 0)}`;
    // As it comes back from a store: what isn't JSON has no place in it.
    const kept = JSON.parse(JSON.stringify(entry)) as NewJournalEntry;
    list.kept.push({ name, entry: { ...kept, id, at } });
  }

  #dropBeyondShare(of: string, list: List, name: string): void {
    const { maxOverall, maxPerList, maxPerCron, share } = this.#limits;
    const most = { [ALL]: maxOverall, [MANY]: maxPerCron }[of] ?? maxPerList;
    const isFull = list.kept.length >= most;
    const own = of === ALL ? [] : list.kept.filter((one) => one.name === name);
    const gone = own.length >= maxPerCron || (isFull && own.length >= share) ? own[0] : isFull ? list.kept[0] : null;
    list.kept = list.kept.filter((one) => one !== gone);
  }

  #listNamed(name: string): string {
    return name === MANY ? MANY : String(listOf(name, this.#limits.lists));
  }

  #entries(of: string): readonly Kept[] {
    this.#forget();
    return this.#lists.get(of)?.kept ?? [];
  }

  #forget(): void {
    const until = this.#clock.now() - this.#limits.keepMs;
    for (const [of, { addedAt }] of this.#lists) if (addedAt <= until) this.#lists.delete(of);
  }
}

function olderThan(before: string | undefined): (kept: Kept) => JournalEntry[] {
  return ({ entry }) => (isJournalId(before) && compareIds(entry.id, before) >= 0 ? [] : [entry]);
}
