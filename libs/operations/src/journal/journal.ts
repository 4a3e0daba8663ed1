import type { EventName } from '@fencepost/jobs';
import type { EventLevel } from '@fencepost/jobs/internal';
import { StoreAwayError } from '@fencepost/lease';
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
  /** The store's, and ordered as `<ms>-<n>`. The list of one cron has ids of its own. */
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
  /** So many of one cron, and only {@link isNotable} ones. */
  readonly maxPerCron: number;
  /** The list of a cron of which nothing was heard for so long is gone, milliseconds. */
  readonly keepMs: number;
}

export const JOURNAL_LIMITS: JournalLimits = { maxOverall: 10_000, maxPerCron: 200, keepMs: 30 * 24 * 3_600_000 };

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
  /** What was notable of one cron, the newest first. */
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

/** When the store took the entry, epoch milliseconds of the store. */
export function instantOf(id: string): number {
  return partsOf(id)[0];
}

function partsOf(id: string): readonly [number, number] {
  const [, at = '0', n = '0'] = ID.exec(id) ?? [];
  return [Number(at), Number(n)];
}

const EVENT_FAMILIES = ['lease.', 'pods.', 'catalog.', 'alarm.', 'journal.'];

/** A store that is down makes every pod emit these many times a second, and they are not about a cron. */
const OF_STORES: ReadonlySet<EventName> = new Set(['store.failed', 'queue.failed']);

/**
 * Whether the event helps to answer "why did it not run?" later: every warning, lease changes and declarations. Events of
 * healthy runs do not: the ledger records these.
 */
export function isNotable(event: EventName): boolean {
  return NOTABLE.has(event);
}

const NOTABLE: ReadonlySet<EventName> = new Set(
  (Object.keys(EVENT_TEXT) as EventName[]).filter((event) => {
    const [level] = EVENT_TEXT[event];
    if (level === 'debug' || OF_STORES.has(event)) return false;
    return level !== 'info' || EVENT_FAMILIES.some((family) => event.startsWith(family));
  }),
);
