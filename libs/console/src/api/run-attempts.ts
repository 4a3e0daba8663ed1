import type { presentJournalEntry, presentRun } from '@fencepost/operations/presenting';
import { parseLine, type LogLine } from './run-log-line.js';

type JournalEntry = ReturnType<typeof presentJournalEntry>;
type Run = ReturnType<typeof presentRun>;

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
  /** The stacks of its error and of the causes, while the log of the run is kept. */
  readonly stack: string | null;
  /** Ids of the entries in the journal, newest first. */
  readonly refusals: readonly string[];
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
 * of the latest but its end; the rest is what the journal and the log have, and these have gaps.
 */
export function attemptsOf(
  run: AttemptedRun,
  journal: readonly JournalEntry[],
  logs: readonly string[] = [],
): readonly SeenAttempt[] {
  const told = toldOf(journal);
  const failures = failuresIn(logs);
  const count = Math.max(run.attempt, ...told.keys());
  const seen: SeenAttempt[] = [];
  for (let number = count; number >= 1; number -= 1) {
    const attempt = attemptOf(number, told.get(number) ?? [], { run, count, failure: failures.get(number) });
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

/** The last line with a stack of each attempt: its worker wrote it when the attempt failed. */
function failuresIn(logs: readonly string[]): ReadonlyMap<number, LogLine> {
  const failures = new Map<number, LogLine>();
  for (const written of logs) {
    const line = parseLine(written);
    if (line?.level === 'error' && /\n\s+at /.test(line.text)) failures.set(line.attempt, line);
  }
  return failures;
}

interface Among {
  readonly run: AttemptedRun;
  readonly count: number;
  readonly failure: LogLine | undefined;
}

function attemptOf(number: number, entries: readonly JournalEntry[], { run, count, failure }: Among): SeenAttempt {
  const latest = number === run.attempt ? run : null;
  const recorded = latest && recordedEnd(latest);
  const told = endIn(entries, recorded);
  const times = timesOf(beginOf(number, run), { entries, told, recorded, failure, run });
  const isKnown = latest !== null || times.beganAt !== null || entries.length > 0 || failure !== undefined;
  const end = told?.end ?? recorded ?? (goesOn(latest, count) ? 'open' : isKnown ? 'unrecorded' : 'lost');
  return {
    ...{ number, first: number, ...times, end },
    worker: entries[0]?.pod ?? latest?.worker ?? null,
    fence: entries.map(fenceOf).find((fence) => fence !== null) ?? latest?.fence ?? null,
    why: told ? whyOf(told.entry) : null,
    stack: failure?.text ?? null,
    refusals: entries.filter(({ event }) => event === 'attempt.refused').map(({ id }) => id),
  };
}

interface Sources {
  readonly entries: readonly JournalEntry[];
  readonly told: { readonly end: AttemptEnd; readonly entry: JournalEntry } | null;
  readonly recorded: AttemptEnd | null;
  readonly failure: LogLine | undefined;
  readonly run: AttemptedRun;
}

type Times = Pick<SeenAttempt, 'beganAt' | 'endedAt' | 'tookMs'>;

/**
 * The record of the run is exact, the log is by the clock of the worker, and the journal is written a little later. So an end
 * that the record doesn't have is reckoned from the beginning where the worker has measured how long the attempt took, and the
 * other way round.
 */
function timesOf(recordedBegin: string | null, { entries, told, recorded, failure, run }: Sources): Times {
  const measured = measuredMs(told?.entry);
  // Effects are recorded by the same clock: they lie within it.
  if (recordedBegin !== null && recorded === 'succeeded' && run.finishedAt !== null) {
    return { beganAt: recordedBegin, endedAt: run.finishedAt, tookMs: betweenMs(recordedBegin, run.finishedAt) };
  }
  if (recordedBegin !== null && measured !== null && told) {
    return { beganAt: recordedBegin, endedAt: later(recordedBegin, measured), tookMs: measured };
  }
  const toldEnd = told && (told.end === 'failed' && failure ? failure.at : instantOf(told.entry));
  const endedAt = toldEnd ?? (recorded === 'succeeded' ? run.finishedAt : null);
  const begun = entries.find(({ event }) => event === 'attempt.begun');
  const reckoned = endedAt !== null && measured !== null ? later(endedAt, -measured) : null;
  const beganAt = recordedBegin ?? reckoned ?? (begun ? instantOf(begun) : null);
  return { beganAt, endedAt, tookMs: measured ?? betweenMs(beganAt, endedAt) };
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

function measuredMs(entry: JournalEntry | undefined): number | null {
  const told = entry?.detail['tookMs'];
  return typeof told === 'number' ? told : null;
}

function betweenMs(beganAt: string | null, endedAt: string | null): number | null {
  return beganAt === null || endedAt === null ? null : Math.max(0, Date.parse(endedAt) - Date.parse(beganAt));
}

function later(iso: string, ms: number): string {
  return new Date(Date.parse(iso) + ms).toISOString();
}

function whyOf({ detail }: JournalEntry): string | null {
  const why = detail['err'] ?? detail['cause'] ?? detail['effect'];
  return typeof why === 'string' ? why : null;
}

function fenceOf({ detail: { fence } }: JournalEntry): string | null {
  return typeof fence === 'string' || typeof fence === 'number' ? String(fence) : null;
}
