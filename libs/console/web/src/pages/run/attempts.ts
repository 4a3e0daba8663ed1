import type { JournalEntry, Run } from '../../data/types.js';

/** What the record of a run tells of its attempts. */
export type AttemptedRun = Pick<
  Run,
  'attempt' | 'state' | 'startedAt' | 'attemptedAt' | 'finishedAt' | 'worker' | 'fence'
>;

/**
 * How an attempt ended. `refused`: the ledger took its word no more. `aborted`: it was told to stop, and nothing after that
 * is known. `open`: it goes on. `unrecorded`: something is known of it, and no end. `lost`: nothing at all is known of it.
 */
export type AttemptEnd =
  'succeeded' | 'failed' | 'cancelled' | 'uncertain' | 'refused' | 'aborted' | 'open' | 'unrecorded' | 'lost';

/** One attempt as far as it is known; `null` for what nobody has recorded, or the journal has forgotten. */
export interface SeenAttempt {
  readonly number: number;
  /** The first of those that this stands for: of a long row of lost ones there is no more to say than of one. */
  readonly first: number;
  readonly beganAt: string | null;
  readonly endedAt: string | null;
  readonly tookMs: number | null;
  readonly worker: string | null;
  readonly fence: string | null;
  readonly end: AttemptEnd;
  /** The error, the cause, or the effect that a person is asked about. */
  readonly why: string | null;
  /** Newest first. */
  readonly refusals: readonly JournalEntry[];
}

/** What the ledger itself took as an end stands before a refusal, and that before the order to stop that it comes with. */
const ENDS = [
  ['attempt.succeeded', 'succeeded'],
  ['attempt.failed', 'failed'],
  ['attempt.cancelled', 'cancelled'],
  ['attempt.uncertain', 'uncertain'],
  ['attempt.refused', 'refused'],
  ['attempt.aborted', 'aborted'],
] as const;

const OF_ATTEMPTS: ReadonlySet<string> = new Set(['attempt.begun', ...ENDS.map(([event]) => event)]);

/**
 * The attempts of a run, the newest first. The record of the run says how many there were, when the first one began, and all
 * of the latest but its end; the rest is what the journal has, and that has gaps.
 */
export function attemptsOf(run: AttemptedRun, journal: readonly JournalEntry[]): readonly SeenAttempt[] {
  const told = toldOf(journal);
  const count = Math.max(run.attempt, ...told.keys());
  const seen: SeenAttempt[] = [];
  for (let number = count; number >= 1; number -= 1) {
    const attempt = attemptOf(number, told.get(number) ?? [], { run, count });
    const last = seen.at(-1);
    if (last?.end === 'lost' && attempt.end === 'lost') seen[seen.length - 1] = { ...last, first: number };
    else seen.push(attempt);
  }
  return seen;
}

function toldOf(journal: readonly JournalEntry[]): ReadonlyMap<number, readonly JournalEntry[]> {
  const told = new Map<number, JournalEntry[]>();
  for (const entry of journal) {
    const { attempt } = entry.detail;
    if (!OF_ATTEMPTS.has(entry.event) || typeof attempt !== 'number') continue;
    told.set(attempt, [...(told.get(attempt) ?? []), entry]);
  }
  return told;
}

interface Among {
  readonly run: AttemptedRun;
  readonly count: number;
}

function attemptOf(number: number, entries: readonly JournalEntry[], { run, count }: Among): SeenAttempt {
  const latest = number === run.attempt ? run : null;
  const begun = entries.find(({ event }) => event === 'attempt.begun');
  const beganAt = beginOf(number, run) ?? (begun ? instantOf(begun) : null);
  const recorded = latest && recordedEnd(latest);
  const told = endIn(entries, recorded);
  const isKnown = latest !== null || beganAt !== null || entries.length > 0;
  const end = told?.end ?? recorded ?? (goesOn(latest, count) ? 'open' : isKnown ? 'unrecorded' : 'lost');
  const endedAt = told ? instantOf(told.entry) : end === 'succeeded' ? run.finishedAt : null;
  return {
    ...{ number, first: number, beganAt, endedAt, end },
    tookMs: tookOf(told?.entry, beganAt, endedAt),
    worker: entries[0]?.pod ?? latest?.worker ?? null,
    fence: entries.map(fenceOf).find((fence) => fence !== null) ?? latest?.fence ?? null,
    why: told ? whyOf(told.entry) : null,
    refusals: entries.filter(({ event }) => event === 'attempt.refused'),
  };
}

/** @param recorded what its end is known to be: then what was told of another one is only what came before */
function endIn(entries: readonly JournalEntry[], recorded: AttemptEnd | null) {
  for (const [event, end] of ENDS) {
    const entry = entries.find((one) => one.event === event);
    if (entry && (recorded === null || recorded === end)) return { end, entry };
  }
  return null;
}

/** Only these two states come from the end of the latest attempt alone: a person may have brought about all others. */
function recordedEnd({ state }: AttemptedRun): AttemptEnd | null {
  return state === 'succeeded' || state === 'uncertain' ? state : null;
}

/** The journal is read after the record, and may have the next attempt already. */
function goesOn(latest: AttemptedRun | null, count: number): boolean {
  return latest?.state === 'running' && latest.attempt === count;
}

/** The record is nearer to it than the journal, which is written a little later. */
function beginOf(number: number, run: AttemptedRun): string | null {
  if (number === run.attempt) return run.attemptedAt;
  return number === 1 ? run.startedAt : null;
}

/** When it happened, as far as the pod could say: what the store was away for is written down late. */
function instantOf({ at, detail: { heldUpMs } }: JournalEntry): string {
  return typeof heldUpMs === 'number' ? new Date(Date.parse(at) - heldUpMs).toISOString() : at;
}

function tookOf(entry: JournalEntry | undefined, beganAt: string | null, endedAt: string | null): number | null {
  const told = entry?.detail['tookMs'];
  if (typeof told === 'number') return told;
  return beganAt === null || endedAt === null ? null : Math.max(0, Date.parse(endedAt) - Date.parse(beganAt));
}

function whyOf({ detail }: JournalEntry): string | null {
  const why = detail['err'] ?? detail['cause'] ?? detail['effect'];
  return typeof why === 'string' ? why : null;
}

function fenceOf({ detail: { fence } }: JournalEntry): string | null {
  return typeof fence === 'string' || typeof fence === 'number' ? String(fence) : null;
}
