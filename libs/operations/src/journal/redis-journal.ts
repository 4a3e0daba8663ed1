import { FIRST_FORMAT, isReadable } from '@fencepost/ledger/format';
import { loadScripts, redisKeys, type KeyBuilder, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import {
  JournalAwayError,
  JOURNAL_LIMITS,
  readable,
  BEFORE_ALL,
  isJournalId,
  instantOf,
  isNotable,
} from './journal.js';
import type { Journal, JournalEntry, JournalLimits, JournalQuery, NewJournalEntry } from './journal.js';

/** The format, and values without their names: the names would be most of ten thousand entries. */
function entryText({ pod, role, event, level, cron, runId, detail }: NewJournalEntry): string {
  return JSON.stringify([FIRST_FORMAT, pod, role, event, level, cron, runId, detail]);
}

/** Nothing for what can't be read: another release may have written it, and a hint that is missing is no failure. */
function readEntry(id: string, text: string): JournalEntry[] {
  const values = valuesOf(text);
  if (!isEntry(values)) return [];
  const [, pod, role, event, level, cron, runId, detail] = values;
  return [{ id, at: instantOf(id), pod, role, event, level, cron, runId, detail }];
}

type Values = [
  format: number,
  ...names: [pod: string, role: string, event: NewJournalEntry['event'], level: NewJournalEntry['level']],
  ...of: [cron: string | null, runId: string | null, detail: NewJournalEntry['detail']],
];

const isName = (name: unknown) => typeof name === 'string';

function isEntry(values: unknown): values is Values {
  if (!Array.isArray(values)) return false;
  const [format, pod, role, event, level, cron, runId, detail] = values as unknown[];
  return (
    isReadable(Number(format)) &&
    [pod, role, event, level].every(isName) &&
    [cron, runId].every((name) => name === null || isName(name)) &&
    typeof detail === 'object' &&
    detail !== null
  );
}

function valuesOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['append-entries']);

export interface RedisJournalOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
  readonly limits?: Partial<JournalLimits>;
}

type Fields = [id: string, fields: string[] | null];

/** What happened lately, in streams: one of the tenant beside its catalog, and one of each cron beside its lease. */
export class RedisJournal implements Journal {
  readonly #redis: RedisClient;
  readonly #limits: JournalLimits;
  readonly #key: KeyBuilder;
  /** Not called as that of a cron is: a cron may be called `catalog` too. */
  readonly #all: string;

  constructor(options: RedisJournalOptions) {
    this.#redis = options.redis;
    this.#limits = { ...JOURNAL_LIMITS, ...options.limits };
    this.#key = redisKeys(options);
    this.#all = this.#key('catalog', 'happened');
  }

  /** @throws {JournalAwayError} while there is no connection: what waits for one would be kept in memory */
  async append(entries: readonly NewJournalEntry[]): Promise<void> {
    if (this.#redis.status !== 'ready') throw new JournalAwayError(this.#redis.status);
    if (entries.length === 0) return;
    const { maxOverall, maxPerCron } = this.#limits;
    // A command for each list, as they lie in different slots; sent in one turn, they are one round trip all the same.
    await Promise.all([
      this.#add(this.#all, maxOverall, entries),
      ...[...notableByCron(entries)].map(([cron, those]) => this.#add(this.#listOf(cron), maxPerCron, those)),
    ]);
  }

  async ofCron(cron: string, query: JournalQuery): Promise<JournalEntry[]> {
    return this.#newest(this.#listOf(cron), query);
  }

  async latest(query: JournalQuery): Promise<JournalEntry[]> {
    return this.#newest(this.#all, query);
  }

  async since(after: string | null, limit: number): Promise<JournalEntry[]> {
    if (!isJournalId(after)) return [];
    return readAll(await this.#redis.xrange(this.#all, `(${after}`, '+', 'COUNT', readable(limit)));
  }

  async head(): Promise<string | null> {
    const [newest] = await this.#redis.xrevrange(this.#all, '+', '-', 'COUNT', 1);
    return newest?.[0] ?? null;
  }

  async #newest(list: string, { limit, before }: JournalQuery): Promise<JournalEntry[]> {
    if (before === BEFORE_ALL) return [];
    const from = isJournalId(before) ? `(${before}` : '+';
    return readAll(await this.#redis.xrevrange(list, from, '-', 'COUNT', readable(limit)));
  }

  async #add(list: string, most: number, entries: readonly NewJournalEntry[]): Promise<void> {
    const { keepMs } = this.#limits;
    await SCRIPTS['append-entries'].run(this.#redis, [list], [most, keepMs, ...entries.map(entryText)]);
  }

  #listOf(cron: string): string {
    return this.#key(cron, 'journal');
  }
}

function notableByCron(entries: readonly NewJournalEntry[]): Map<string, NewJournalEntry[]> {
  const found = new Map<string, NewJournalEntry[]>();
  for (const entry of entries) {
    if (entry.cron === null || !isNotable(entry.event)) continue;
    const those = found.get(entry.cron);
    if (those) those.push(entry);
    else found.set(entry.cron, [entry]);
  }
  return found;
}

function readAll(found: readonly Fields[]): JournalEntry[] {
  return found.flatMap(([id, fields]) => readEntry(id, fields?.[1] ?? ''));
}
