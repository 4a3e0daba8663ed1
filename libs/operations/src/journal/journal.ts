import type { EventName } from '@fencepost/jobs';
import type { EventLevel } from '@fencepost/jobs/internal';

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
