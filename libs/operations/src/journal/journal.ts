import type { EventName } from '@fencepost/jobs';
import type { EventLevel } from '@fencepost/jobs/internal';
import { StoreAwayError } from '@fencepost/lease';
import { CRON_NAME } from '@fencepost/ledger/run';
import { EVENT_TEXT } from '@fencepost/jobs/internal';

/** What a pod has to say about one event. When it happened and in which order is the store's to say. */
export interface NewJournalEntry {
  /** Label and first characters of the pod's identity, never all of it. */
  readonly pod: string;
  /** `scheduler`, `worker`, or `scheduler+worker`. */
  readonly role: string;
  readonly event: EventName;
  readonly level: EventLevel;
  readonly cron: string | null;
  readonly runId: string | null;
  /** What the event carries, as logs show it; fences as decimal texts. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface JournalEntry extends NewJournalEntry {
  /** The store's, and ordered as `<ms>-<n>`. What is told of one cron has other ids there than among all. */
  readonly id: string;
  /** When the store took it, epoch milliseconds of the store. */
  readonly at: number;
}

export interface JournalQuery {
  /** At most so many, 1 to {@link MAX_READ}. */
  readonly limit: number;
  /** Only what is older than the entry of this id; one that can't be an id is taken for none. */
  readonly before?: string;
}

export interface JournalLimits {
  /** So many entries of all crons and pods are kept. */
  readonly maxOverall: number;
  /** What is notable of one cron is in one of so many, by a hash of its name: a list per cron would be most of an idle cron. */
  readonly lists: number;
  /** So many entries in each of these. */
  readonly maxPerList: number;
  /** So many of one cron, and only {@link isNotable} ones. */
  readonly maxPerCron: number;
  /** A cron pushes out at most so many entries of its neighbours in a full list; beyond that it gives up its own oldest. */
  readonly share: number;
  /** An entry is gone after so long, and a list to which nothing was added, milliseconds. */
  readonly keepMs: number;
}

/**
 * With the list about many crons it is at most 30,200 entries, whatever the number of crons. Of the usual size
 * that is 12 MB in Redis, of the largest that a pod writes 80 MB; a cron of which nothing notable is told takes nothing.
 */
export const JOURNAL_LIMITS: JournalLimits = {
  maxOverall: 10_000,
  lists: 16,
  maxPerList: 1_250,
  maxPerCron: 200,
  share: 20,
  keepMs: 30 * 24 * 3_600_000,
};

/** An answer of more would hold up the store for everybody else. */
const MAX_READ = 1_000;

/** A limit as it goes to a store, whatever was asked for. */
export function readable(limit: number): number {
  return Math.min(Math.max(Math.floor(limit) || 1, 1), MAX_READ);
}

/**
 * Recent events of all pods. Bounded, and with gaps: a busy pod drops what is ordinary, and a store that was away
 * has what happened meanwhile never. Hints for people; nothing may act on them, the ledger alone says what is true.
 *
 * Every implementation passes `test/contracts/journal.contract.ts`.
 */
export interface Journal {
  append(entries: readonly NewJournalEntry[]): Promise<void>;
  /**
   * What was notable of one cron, the newest first; and what was told of many at once ({@link MANY}), unless it names all
   * of them and this one isn't among them.
   */
  ofCron(cron: string, query: JournalQuery): Promise<JournalEntry[]>;
  /** The newest first. */
  latest(query: JournalQuery): Promise<JournalEntry[]>;
  /** What came after the entry of this id, the oldest first; for `null`, or what can't be an id, nothing: see {@link head}. */
  since(after: string | null, limit: number): Promise<JournalEntry[]>;
  /** The id of the newest entry; `null` while there is none. */
  head(): Promise<string | null>;
}

/** The store was not asked: nothing of what was to be written is there, and it may be tried again. */
export class JournalAwayError extends StoreAwayError {
  readonly code = 'JOURNAL_AWAY';

  constructor(status: string) {
    super(`Expected the journal connection to be ready, but it is "${status}". Try again later.`);
  }
}

/** As streams of Redis number their entries: milliseconds, and a count within one. */
const ID = /^(\d{1,15})-(\d{1,15})$/;

/** Before every entry there can be: who has it as a cursor reads all of a journal that was empty. */
export const BEFORE_ALL = '0-0';

/** What somebody sends as the id of an entry may be anything, and a store would refuse it with an error. */
export function isJournalId(text: string | null | undefined): text is string {
  return typeof text === 'string' && ID.test(text);
}

/** Negative when `a` came first. Both have to be ids. */
export function compareIds(a: string, b: string): number {
  const [[atA, nA], [atB, nB]] = [partsOf(a), partsOf(b)];
  return atA - atB || nA - nB;
}

/** From here on entries about many crons are counted within a millisecond, so that no other entry of a cron has the same id. */
export const IDS_ABOUT_MANY = 1_000;

export function newestFirst(entries: readonly JournalEntry[], limit: number): JournalEntry[] {
  return entries.toSorted((a, b) => compareIds(b.id, a.id)).slice(0, limit);
}

/** When the store took the entry, epoch milliseconds of the store. */
export function instantOf(id: string): number {
  return partsOf(id)[0];
}

export function partsOf(id: string): readonly [number, number] {
  const [, at = '0', n = '0'] = ID.exec(id) ?? [];
  return [Number(at), Number(n)];
}

const EVENT_FAMILIES = ['lease.', 'pods.', 'catalog.', 'alarm.', 'journal.'];

/** A name that stands for no cron: what is told of many of them is kept under it. */
export const MANY = '*';

/** Under which name an entry is kept for longer than the newest of all; `null`: it is not. */
export function keptUnder({ event, cron, detail }: NewJournalEntry): string | null {
  if (!isNotable(event)) return null;
  if (cron === null) return Array.isArray(detail['crons']) ? MANY : null;
  return CRON_NAME.test(cron) ? cron : null;
}

/** Whether an entry about many crons may be about this one: it names the first of them, and says how many they are. */
export function mayConcern(cron: string, { detail: { crons, count } }: Pick<JournalEntry, 'detail'>): boolean {
  const named: readonly unknown[] = Array.isArray(crons) ? crons : [];
  return named.includes(cron) || named.length < Number(count ?? 0) || AND_MORE.test(String(named.at(-1)));
}

const AND_MORE = /^and \d+ more$/;

/** The number of the list of a cron, of so many. */
export function listOf(cron: string, lists: number): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < cron.length; n += 1) hash = Math.imul(hash ^ cron.charCodeAt(n), 0x01000193);
  return ((hash ^ (hash >>> 16)) >>> 0) % lists;
}

/** A store that is down makes every pod emit these many times a second, and they are not about a cron. */
const OF_STORES: ReadonlySet<EventName> = new Set(['store.failed', 'queue.failed']);

/**
 * Whether the event helps to answer "why did it not run?" later: every warning, lease changes and declarations. Events of
 * healthy runs do not: the ledger records these.
 */
export function isNotable(event: EventName): boolean {
  return NOTABLE.has(event);
}

/** An order or a policy asked for this end, so it is no warning, but `why` needs it. */
const ENDED: ReadonlySet<EventName> = new Set(['attempt.cancelled']);

const NOTABLE: ReadonlySet<EventName> = new Set(
  (Object.keys(EVENT_TEXT) as EventName[]).filter((event) => {
    const [level] = EVENT_TEXT[event];
    if (level === 'debug' || OF_STORES.has(event)) return false;
    return level !== 'info' || ENDED.has(event) || EVENT_FAMILIES.some((family) => event.startsWith(family));
  }),
);
