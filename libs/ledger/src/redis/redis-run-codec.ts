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

type Fields = Readonly<Record<string, string>>;

/** Reads a run as the scripts wrote it; `null` for a hash that isn't there. */
export function decodeRun(fields: Fields): Run | null {
  const id = fields['id'];
  if (id === undefined) return null;
  return {
    id,
    cron: cronOfRun(id),
    scheduledAt: Number(fields['scheduledAt']),
    dueAt: Number(fields['dueAt']),
    state: fields['state'] as RunState,
    reason: fields['reason'] as RunReason,
    skipped: (fields['skipped'] as SkipReason | undefined) ?? null,
    missed: decodeMissed(fields['missed']),
    generation: Number(fields['generation']),
    claimFence: parseFence(fields['claimFence'] ?? ''),
    claimedBy: fields['claimedBy'] ?? '',
    claimedAt: Number(fields['claimedAt']),
    enqueuedAt: optionalNumber(fields['enqueuedAt']),
    delivery: Number(fields['delivery']),
    attempt: Number(fields['attempt']),
    fence: fields['fence'] ? parseFence(fields['fence']) : null,
    worker: fields['worker'] ?? null,
    startedAt: optionalNumber(fields['startedAt']),
    attemptedAt: optionalNumber(fields['attemptedAt']),
    notBefore: optionalNumber(fields['notBefore']),
    finishedAt: optionalNumber(fields['finishedAt']),
    error: fields['error'] || null,
    by: fields['by'] ?? null,
    payload: fields['payload'] ?? null,
    handler: fields['handler'] ?? null,
    waiting: (fields['waiting'] || null) as WaitReason | null,
    priority: optionalNumber(fields['priority']),
    unresolvedEffect: fields['question'] ? (JSON.parse(fields['question']) as UnresolvedEffect) : null,
    cancel: readCancel(fields),
  };
}

/** Written wholly or not at all. */
function readCancel(fields: Fields): Run['cancel'] {
  const { cancelAt, cancelBy, cancelUntil } = fields;
  if (!cancelAt) return null;
  return { at: Number(cancelAt), by: cancelBy ?? '', until: Number(cancelUntil) };
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

/** The fields that most runs don't have, as a script writes them: a field that isn't there is the usual. */
export function encodeOptions(options: RunOptions): (string | number)[] {
  const { missed, maxConcurrency = 1, startBy = null, handler = null, payload = null, priority = null } = options;
  const words: (string | number)[] = [];
  if (missed !== null) words.push('missed', [missed.count, missed.from, missed.to].join(','));
  if (maxConcurrency !== 1) words.push('maxConcurrency', maxConcurrency);
  if (startBy !== null) words.push('startBy', startBy);
  if (handler !== null) words.push('handler', handler);
  if (payload !== null) words.push('payload', payload);
  if (priority !== null) words.push('priority', priority);
  return words;
}

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
