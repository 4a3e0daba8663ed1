import { parseFence } from '@fencepost/lease';
import { decodeMissed, optionalNumber } from '../base/begun-run-codec.js';
import { cronOfRun } from '../base/occurrence.js';
import type { RunState } from '../base/run-state.js';
import type { Delivery, Notification, NotifiedState } from '../base/ledger.js';
import type {
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
export const RUN_FIELDS = 'c s q r f h cancel error by payload handler waiting w skipped question'.split(' ');

/** Where the worker stands among them. */
export const WORKER_FIELD = RUN_FIELDS.indexOf('w');

/** What a run's hash has under {@link RUN_FIELDS}. */
export type RunRow = readonly (string | null | undefined)[];

const FORMAT = '2';

/** How many words `c` and `s` have, each with its format. */
const SETTLED = 12;
const STANDING = 6;

/**
 * Reads a run as `run-record.lua` lays it out; `null` for a hash that isn't there.
 * @throws {Error} for a record of another format
 */
export function decodeRun(id: string, row: RunRow): Run | null {
  const [facts, standing, enqueued, latest, end, claimedBy, cancel, error, ...rest] = row;
  if (!standing) return null;
  const [by, payload, handler, waiting, worker, skipped, question] = rest;
  const [, state = '', delivery, attempt, , notBefore] = wordsOf(standing, STANDING);
  const settled = decodeSettled(facts);
  const [fence, , started, attempted] = latest?.split(' ') ?? [];
  const timeOf = (word: string | null | undefined) => (word ? settled.scheduledAt + Number(word) : null);
  return {
    ...settled,
    id,
    cron: cronOfRun(id),
    state: STATES[state] as RunState,
    skipped: (skipped || null) as SkipReason | null,
    claimedBy: claimedBy ?? '',
    enqueuedAt: timeOf(enqueued),
    delivery: Number(delivery),
    attempt: Number(attempt),
    fence: fence ? parseFence(fence) : null,
    worker: worker ?? null,
    startedAt: timeOf(started),
    attemptedAt: timeOf(attempted),
    notBefore: timeOf(notBefore),
    finishedAt: end ? timeOf(end.split(' ', 1)[0]) : null,
    error: error || null,
    by: by ?? null,
    payload: payload ?? null,
    handler: handler ?? null,
    waiting: (waiting || null) as WaitReason | null,
    unresolvedEffect: question ? (JSON.parse(question) as UnresolvedEffect) : null,
    cancel: decodeCancel(cancel),
  };
}

/** What its claim settled, with times as they are. */
function decodeSettled(facts: string | null | undefined) {
  const [, instant, due, reason = '', , generation, claimFence = '', claimed, , , priority, missed] = wordsOf(
    facts,
    SETTLED,
  );
  const scheduledAt = Number(instant);
  return {
    scheduledAt,
    dueAt: scheduledAt + Number(due),
    reason: REASONS[reason] as RunReason,
    generation: Number(generation),
    claimFence: parseFence(claimFence),
    claimedAt: scheduledAt + Number(claimed),
    priority: priority ? Number(priority) : null,
    missed: missed ? decodeMissed(missed) : null,
  };
}

function wordsOf(text: string | null | undefined, count: number): string[] {
  const words = (text ?? '').split(' ');
  if (words[0] === FORMAT && words.length === count) return words;
  throw new Error(`Expected a run record of format ${FORMAT}, got ${JSON.stringify(text?.slice(0, 80))}.`);
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
  readonly missed: MissedRange | null;
  readonly maxConcurrency?: number | undefined;
  readonly startBy?: number | null | undefined;
  readonly handler?: string | null | undefined;
  readonly payload?: string | null | undefined;
  readonly priority?: number | null | undefined;
}

/** The end of `c`: what most runs don't have. Its times count from the instant, unless that is the store's. */
export function encodeRest(options: RunOptions, scheduledAt: number): string {
  const { missed, maxConcurrency = 1, startBy = null, priority = null } = options;
  return [
    maxConcurrency === 1 ? '' : maxConcurrency,
    startBy === null ? '' : startBy - scheduledAt,
    priority ?? '',
    missed === null ? '' : [missed.count, missed.from, missed.to].join(','),
  ].join(' ');
}

/** The fields beside it: one that isn't there is the usual. */
export function encodeOptions({ handler = null, payload = null }: RunOptions): string[] {
  return [...(handler === null ? [] : ['handler', handler]), ...(payload === null ? [] : ['payload', payload])];
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
  const [after, through, reason] = text.split(',');
  return { after: Number(after), through: Number(through), reason: reason as SkipReason };
}

/** As `note-notification.lua` writes it; the error comes last because it may have lines of its own. */
export function decodeNotification(receipt: string): Notification {
  const [runId = '', state, at, notify = '', attempt, attemptedAt, unresolvedEffect, ...error] = receipt.split('\n');
  return {
    ...{ receipt, runId, state: state as NotifiedState, notify, attempt: Number(attempt), at: Number(at) },
    tookMs: Math.max(0, Number(at) - (optionalNumber(attemptedAt) ?? Number(at))),
    error: error.join('\n') || null,
    unresolvedEffect: unresolvedEffect ? (JSON.parse(unresolvedEffect) as UnresolvedEffect) : null,
  };
}
