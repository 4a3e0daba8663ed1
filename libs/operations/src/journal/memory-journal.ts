import type { Clock } from '@fencepost/lease';
import { compareIds, isJournalId, JOURNAL_LIMITS, readable, isNotable } from './journal.js';
import type { Journal, JournalEntry, JournalLimits, JournalQuery, NewJournalEntry } from './journal.js';

export interface MemoryJournalOptions {
  /** The store's. */
  readonly clock: Clock;
  readonly limits?: Partial<JournalLimits>;
}

interface List {
  /** The oldest first. */
  readonly entries: JournalEntry[];
  /** Of the entry added last. */
  at: number;
  count: number;
  /** When something was added last, by the store's clock, which may go back. */
  addedAt: number;
}

/** What happened lately, in memory, for tests: an adapter like `RedisJournal`, on the same contract suite. */
export class MemoryJournal implements Journal {
  readonly #clock: Clock;
  readonly #limits: JournalLimits;
  #all = emptyList();
  readonly #crons = new Map<string, List>();

  constructor({ clock, limits }: MemoryJournalOptions) {
    this.#clock = clock;
    this.#limits = { ...JOURNAL_LIMITS, ...limits };
  }

  async append(entries: readonly NewJournalEntry[]): Promise<void> {
    this.#forget();
    const { maxOverall, maxPerCron } = this.#limits;
    for (const entry of entries) {
      this.#add(this.#all, entry, maxOverall);
      if (entry.cron !== null && isNotable(entry.event)) this.#add(this.#listOf(entry.cron), entry, maxPerCron);
    }
  }

  async ofCron(cron: string, query: JournalQuery): Promise<JournalEntry[]> {
    this.#forget();
    return newest(this.#crons.get(cron)?.entries ?? [], query);
  }

  async latest(query: JournalQuery): Promise<JournalEntry[]> {
    this.#forget();
    return newest(this.#all.entries, query);
  }

  async since(after: string | null, limit: number): Promise<JournalEntry[]> {
    this.#forget();
    if (!isJournalId(after)) return [];
    return this.#all.entries.filter(({ id }) => compareIds(id, after) > 0).slice(0, readable(limit));
  }

  async head(): Promise<string | null> {
    this.#forget();
    return this.#all.entries.at(-1)?.id ?? null;
  }

  #add(list: List, entry: NewJournalEntry, most: number): void {
    const now = this.#clock.now();
    // A clock that went back moves no entry before another one.
    const at = Math.max(now, list.at);
    list.count = at === list.at ? list.count + 1 : 0;
    [list.at, list.addedAt] = [at, now];
    // As it comes back from a store: what isn't JSON has no place in it.
    const kept = JSON.parse(JSON.stringify(entry)) as NewJournalEntry;
    list.entries.push({ ...kept, id: `${at}-${list.count}`, at });
    if (list.entries.length > most) list.entries.shift();
  }

  #listOf(cron: string): List {
    const list = this.#crons.get(cron) ?? emptyList();
    this.#crons.set(cron, list);
    return list;
  }

  #forget(): void {
    const gone = ({ addedAt }: List) => addedAt <= this.#clock.now() - this.#limits.keepMs;
    for (const [cron, list] of this.#crons) if (gone(list)) this.#crons.delete(cron);
    if (gone(this.#all)) this.#all = emptyList();
  }
}

function emptyList(): List {
  return { entries: [], at: -1, count: 0, addedAt: -Infinity };
}

function newest(entries: readonly JournalEntry[], { limit, before }: JournalQuery): JournalEntry[] {
  const asked = isJournalId(before) ? entries.filter(({ id }) => compareIds(id, before) < 0) : entries;
  return asked.slice(-readable(limit)).toReversed();
}
