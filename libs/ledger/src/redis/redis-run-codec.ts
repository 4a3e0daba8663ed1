import { parseFence } from '@fencepost/lease';
import { checkFormat, FIRST_FORMAT } from '../base/format.js';
import { decodeMissed, optionalNumber } from '../base/begun-run-codec.js';
import { cronOfRun } from '../base/occurrence.js';
import type { RunState } from '../base/run-state.js';
import type { Delivery, Notification, NotifiedState, TallyRow } from '../base/ledger.js';
import type {
  BlockedReason,
  MissedRange,
  Pause,
  UnresolvedEffect,
  Run,
  RunReason,
  SkipRange,
  SkipReason,
  WaitReason,
} from '../base/run.js';

/** As `run-record.lua` has them. */
const STATES: Readonly<Record<string, RunState>> = {
  ...{ c: 'claimed', e: 'enqueued', r: 'running', o: 'orphaned', u: 'uncertain' },
  ...{ s: 'succeeded', f: 'failed', x: 'cancelled', k: 'skipped' },
};

export const REASON_LETTERS: Readonly<Record<RunReason, string>> = {
  ...{ schedule: 's', 'catch-up': 'c', manual: 'm', backfill: 'b' },
};

const REASONS = Object.fromEntries(Object.entries(REASON_LETTERS).map(([reason, letter]) => [letter, reason]));

/** The fields of a run's hash that make a {@link Run}, in the order of a {@link RunRow}. */
export const RUN_FIELDS = 'c s q r f h cancel error by payload handler waiting w skipped question result'.split(' ');

/** Where the worker stands among them. */
export const WORKER_FIELD = RUN_FIELDS.indexOf('w');

/** What a run's hash has under {@link RUN_FIELDS}. */
export type RunRow = readonly (string | null | undefined)[];

const FIRST = String(FIRST_FORMAT);

/** How many words `c` and `s` have at least, each with its format. */
const SETTLED = 12;
const STANDING = 6;

/**
 * Reads a run as `run-record.lua` lays it out; `null` for a hash that isn't there.
 * @throws {FormatError} for a record of a format that this build does not read
 */
export function decodeRun(id: string, row: RunRow): Run | null {
  const [facts, standing] = row;
  return standing ? readRun(id, row, [wordsOf(facts, SETTLED), wordsOf(standing, STANDING)]) : null;
}

type Words = readonly string[];

/**
 * One literal without a spread: V8 makes a hash table of an object of so many properties that another one was spread into, and
 * that costs thirty times as much.
 */
function readRun(id: string, row: RunRow, [settled, standing]: readonly [Words, Words]): Run {
  const [, , enqueued, latest, end, claimedBy, cancel, error] = row;
  const [by, payload, handler, waiting, worker, skipped, question, result] = row.slice(8);
  const [, instant, due, reason = '', , generation, claimFence = '', claimed, , , priority, missed] = settled;
  const [, state = '', delivery, attempt, , notBefore] = standing;
  const [fence, , started, attempted] = latest?.split(' ') ?? [];
  const scheduledAt = Number(instant);
  return {
    id,
    cron: cronOfRun(id),
    scheduledAt,
    dueAt: scheduledAt + Number(due),
    state: STATES[state] as RunState,
    reason: REASONS[reason] as RunReason,
    skipped: skipReason(skipped, waiting),
    missed: missed ? decodeMissed(missed) : null,
    generation: Number(generation),
    claimFence: parseFence(claimFence),
    claimedBy: claimedBy ?? '',
    claimedAt: scheduledAt + Number(claimed),
    enqueuedAt: after(scheduledAt, enqueued),
    delivery: Number(delivery),
    attempt: Number(attempt),
    fence: fence ? parseFence(fence) : null,
    worker: worker ?? null,
    startedAt: after(scheduledAt, started),
    attemptedAt: after(scheduledAt, attempted),
    notBefore: after(scheduledAt, notBefore),
    finishedAt: after(scheduledAt, end?.split(' ', 1)[0]),
    error: error || null,
    result: result ?? null,
    by: by ?? null,
    payload: payload ?? null,
    handler: handler ?? null,
    waiting: (waiting || null) as WaitReason | null,
    priority: priority ? Number(priority) : null,
    unresolvedEffect: question ? (JSON.parse(question) as UnresolvedEffect) : null,
    cancel: decodeCancel(cancel),
  };
}

function skipReason(skipped: string | null | undefined, waiting: string | null | undefined): SkipReason | null {
  return ((skipped === 'overlap' && waiting) || skipped || null) as SkipReason | null;
}

/** What a script says of a run that found others in its way. */
export function blockedReason(word: string | undefined): BlockedReason {
  return word === 'no-capable-worker' ? word : 'overlap';
}

/** Of runs that were counted together, what `tally-runs.lua` calls their class. */
export function decodeClass(text: string): Omit<TallyRow, 'at' | 'count'> {
  const [state = '', reason = '', retried, late, natural] = text;
  return {
    state: STATES[state] as RunState,
    reason: REASONS[reason] as RunReason,
    skipped: (text.slice(5) || null) as SkipReason | null,
    ...{ retried: retried === 'r', late: late === 'l', natural: natural === 'n' },
  };
}

function after(scheduledAt: number, word: string | null | undefined): number | null {
  return word ? scheduledAt + Number(word) : null;
}

function wordsOf(text: string | null | undefined, count: number): string[] {
  const words = (text ?? '').split(' ');
  // As most are: a record bears the lowest format that has all of it.
  if (words[0] === FIRST && words.length === count) return words;
  checkFormat('a run record', words.length < count ? null : words[0], text ?? '');
  return words;
}

/** "at until by": who told it may have a name of several words. */
function decodeCancel(text: string | null | undefined): Run['cancel'] {
  if (!text) return null;
  const [at = '', until = ''] = text.split(' ', 2);
  return { at: Number(at), by: text.slice(at.length + until.length + 2), until: Number(until) };
}

/** A delivery from what a script answered, or from a run; without a priority where it has none. */
export function deliveryOf(
  runId: string,
  delivery: string | number | undefined,
  priority: string | number | null | undefined,
): Delivery {
  return { runId, delivery: Number(delivery), ...(priority ? { priority: Number(priority) } : {}) };
}

interface RunOptions {
  readonly maxConcurrency?: number | undefined;
  readonly startBy?: number | null | undefined;
  readonly handler?: string | null | undefined;
  readonly payload?: string | null | undefined;
  readonly priority?: number | null | undefined;
}

/** The end of `c`: what most runs don't have. Its times count from the instant, unless that is the store's. */
export function encodeRest(options: RunOptions, scheduledAt: number, missed: MissedRange | null): string {
  const { maxConcurrency = 1, startBy = null, priority = null } = options;
  const most = maxConcurrency === 1 ? '' : maxConcurrency;
  const startWithin = startBy === null ? '' : startBy - scheduledAt;
  const range = missed === null ? '' : `${missed.count},${missed.from},${missed.to}`;
  return `${most} ${startWithin} ${priority ?? ''} ${range}`;
}

/** The fields beside it: one that isn't there is the usual. */
export function encodeOptions({ handler = null, payload = null }: RunOptions): string[] {
  const fields = handler === null ? [] : ['handler', handler];
  if (payload !== null) fields.push('payload', payload);
  return fields;
}

/** What `open-runs.lua` adds to the score of a run that waits for a worker, and twice to that of one that waits for the queue. */
export const BAND = 2 ** 51;

/** What stands for "until it is resumed". */
const EVER = 'ever';

export function encodeUntil(until: number | null): string {
  return until === null ? EVER : until.toFixed(0);
}

/** A pause as `{since, until, by, reason}`; one without an end to it is none. */
export function decodePause([since, until, by, reason]: readonly (string | null)[]): Pause | null {
  if (!until) return null;
  return { since: Number(since), until: until === EVER ? null : Number(until), by: by ?? '', reason: reason ?? '' };
}

/** A range as `claim-occurrences` stores it: `after,through,reason`. */
export function decodeSkipRange(text: string): SkipRange {
  const [from, through, reason] = text.split(',');
  return { after: Number(from), through: Number(through), reason: reason as SkipReason };
}

/**
 * As `note-notification.lua` writes it; the error comes last because it may have lines of its own.
 * @throws {FormatError} for a format that this build does not read
 */
export function decodeNotification(receipt: string): Notification {
  const [format, runId = '', state, at, notify = '', attempt, attemptedAt, question, ...error] = receipt.split('\n');
  checkFormat('a notification', format?.split(' ', 1)[0], receipt);
  return {
    ...{ receipt, runId, state: state as NotifiedState, notify, attempt: Number(attempt), at: Number(at) },
    tookMs: Math.max(0, Number(at) - (optionalNumber(attemptedAt) ?? Number(at))),
    error: error.join('\n') || null,
    unresolvedEffect: question ? (JSON.parse(question) as UnresolvedEffect) : null,
  };
}
