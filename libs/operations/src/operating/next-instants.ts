import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { spreadOf } from '@fencepost/schedule';
import { nextInstant } from './cron-overview.js';
import { readableScheduleOf } from './scheduled.js';

interface Memo {
  readonly generation: number;
  next: number | null;
  cursor: number | null | undefined;
  dueAt: number | null;
}

/** The next instants of thousands of crons, each worked out once and not at each look. */
export class NextInstants {
  readonly #memos = new Map<string, Memo>();

  /** The next nominal instant that is not due yet; see `CronOverview.next`. */
  next(entry: CatalogEntry, now: number): number | null {
    const memo = this.#memoOf(entry);
    if (memo.next === null || memo.next <= now) memo.next = nextInstant(entry, now);
    return memo.next;
  }

  /** When the first instant that nobody has accounted for was, or will be, due; `null` for none. */
  firstDue(entry: CatalogEntry, cursor: number | null): number | null {
    const memo = this.#memoOf(entry);
    if (memo.cursor !== cursor) [memo.cursor, memo.dueAt] = [cursor, firstDue(entry, cursor)];
    return memo.dueAt;
  }

  /** Forgets all but these. */
  keep(entries: readonly CatalogEntry[]): void {
    if (this.#memos.size <= entries.length) return;
    const names = new Set(entries.map(({ definition }) => definition.name));
    for (const name of this.#memos.keys()) if (!names.has(name)) this.#memos.delete(name);
  }

  #memoOf({ definition: { name }, generation }: CatalogEntry): Memo {
    const known = this.#memos.get(name);
    if (known?.generation === generation) return known;
    const memo: Memo = { generation, next: null, cursor: undefined, dueAt: null };
    this.#memos.set(name, memo);
    return memo;
  }
}

/** Of the newest generation: the last instants of earlier ones are accounted for by whoever takes the cron over, at once. */
function firstDue({ definition, since }: CatalogEntry, cursor: number | null): number | null {
  const schedule = readableScheduleOf(definition, since);
  const instant = schedule && schedule.next(Math.max(since, cursor ?? since));
  return schedule && instant !== null ? instant + spreadOf(definition.name, schedule.spreadOverMs) : null;
}
