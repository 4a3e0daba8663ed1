import { FIRST_FORMAT, isReadable } from '@fencepost/ledger/format';
import { loadScripts, redisKeys, type KeyBuilder, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import {
  BEFORE_ALL,
  IDS_ABOUT_MANY,
  instantOf,
  isJournalId,
  JournalAwayError,
  JOURNAL_LIMITS,
  keptUnder,
  listOf,
  MANY,
  mayConcern,
  newestFirst,
  partsOf,
  readable,
} from './journal.js';
import type { Journal, JournalEntry, JournalLimits, JournalQuery, NewJournalEntry } from './journal.js';
import { TEXTS } from './lua/texts.js';

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

const SCRIPTS = loadScripts(TEXTS, ['append-entries', 'append-notable']);

export interface RedisJournalOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
  readonly limits?: Partial<JournalLimits>;
}

type Fields = [id: string, fields: string[] | null];

/**
 * What happened lately: a stream of all that happened, and sixteen sorted sets that crons share, in which what is notable of a
 * cron stands together. A question about one cron is two commands, and costs what it answers.
 */
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
    const { maxOverall, maxPerList, maxPerCron, share, keepMs } = this.#limits;
    // A command for each list, as they lie in different slots; sent in one turn, they are one round trip all the same.
    await Promise.all([
      SCRIPTS['append-entries'].run(this.#redis, [this.#all], [maxOverall, keepMs, ...entries.map(entryText)]),
      ...[...this.#notableByList(entries)].map(([list, words]) => {
        const bounds = [list === MANY_LIST ? maxPerCron : maxPerList, maxPerCron, share, keepMs];
        return SCRIPTS['append-notable'].run(this.#redis, this.#keysOf(list), [...bounds, ...words]);
      }),
    ]);
  }

  async ofCron(cron: string, query: JournalQuery): Promise<JournalEntry[]> {
    const limit = readable(query.limit);
    const [own, many] = await Promise.all([
      this.#notable(cron, { ...query, limit }),
      // All of them: which ones concern the cron is not known before.
      this.#notable(MANY, { ...query, limit: this.#limits.maxPerCron }),
    ]);
    return newestFirst([...own, ...many.filter((entry) => mayConcern(cron, entry))], limit);
  }

  async latest({ limit, before }: JournalQuery): Promise<JournalEntry[]> {
    if (before === BEFORE_ALL) return [];
    const from = isJournalId(before) ? `(${before}` : '+';
    return readAll(await this.#redis.xrevrange(this.#all, from, '-', 'COUNT', readable(limit)));
  }

  async since(after: string | null, limit: number): Promise<JournalEntry[]> {
    if (!isJournalId(after)) return [];
    return readAll(await this.#redis.xrange(this.#all, `(${after}`, '+', 'COUNT', readable(limit)));
  }

  async head(): Promise<string | null> {
    const [newest] = await this.#redis.xrevrange(this.#all, '+', '-', 'COUNT', 1);
    return newest?.[0] ?? null;
  }

  async #notable(name: string, { limit, before }: JournalQuery): Promise<JournalEntry[]> {
    const [entries] = this.#keysOf(this.#listNamed(name));
    const to = isJournalId(before) ? endBefore(name, before) : `(${name}!`;
    const found = await this.#redis.zrevrangebylex(entries, to, `[${name} `, 'LIMIT', 0, limit);
    return found.flatMap((text) => readNotable(text, name));
  }

  /** Of each list the words of its script: name and text of each entry. */
  #notableByList(entries: readonly NewJournalEntry[]): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const entry of entries) {
      const name = keptUnder(entry);
      if (name === null) continue;
      const list = this.#listNamed(name);
      const words = found.get(list) ?? [];
      found.set(list, words);
      words.push(name, entryText(entry));
    }
    return found;
  }

  /** Those about many crons have one of their own. */
  #listNamed(name: string): string {
    return name === MANY ? MANY_LIST : String(listOf(name, this.#limits.lists));
  }

  #keysOf(list: string): [entries: string, order: string] {
    return [this.#key(`journal-${list}`, 'notable'), this.#key(`journal-${list}`, 'notable-order')];
  }
}

const MANY_LIST = 'many';
const STAMP_LENGTH = 16;
const PER_MS = 1_000;

/** As a range of members ends that has only what came before the entry of this id. */
function endBefore(name: string, before: string): string {
  const [at, n] = partsOf(before);
  const within = Math.min(Math.max(n - (name === MANY ? IDS_ABOUT_MANY : 0), 0), PER_MS);
  const stamp = String(BigInt(at) * BigInt(PER_MS) + BigInt(within)).padStart(STAMP_LENGTH, '0');
  return stamp.length > STAMP_LENGTH ? `(${name}!` : `(${name} ${stamp}`;
}

function readNotable(member: string, name: string): JournalEntry[] {
  const stamp = Number(member.slice(name.length + 1, name.length + 1 + STAMP_LENGTH));
  const n = (stamp % PER_MS) + (name === MANY ? IDS_ABOUT_MANY : 0);
  return readEntry(`${Math.floor(stamp / PER_MS)}-${n}`, member.slice(name.length + STAMP_LENGTH + 2));
}

function readAll(found: readonly Fields[]): JournalEntry[] {
  return found.flatMap(([id, fields]) => readEntry(id, fields?.[1] ?? ''));
}
