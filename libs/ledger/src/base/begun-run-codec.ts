import { parseFence } from '@fencepost/lease';
import type { BeginRequest } from './attempting.js';
import { cronOfRun } from './occurrence.js';
import type { MissedRange, Run, RunReason, WaitReason } from './run.js';

/** How many words the first text of a begun run has: what has no spaces in it, empty where there is none. */
const WORDS = 18;

/** The words, and then the texts that may have spaces in them. */
export type BegunRow = readonly (string | null | undefined)[];

/**
 * A run as a store shows it to the worker that has begun it: what the worker doesn't know, in a fixed order and without
 * names, because a record with names costs the store and the worker more than all else in the reply.
 *
 * `skipped`, `finishedAt` and `unresolvedEffect` aren't there, because a run that goes on has none.
 * @returns `null` for what is no such record
 */
export function decodeBegun(row: BegunRow, { runId, worker }: Pick<BeginRequest, 'runId' | 'worker'>) {
  const [all, ...texts] = row;
  const words = String(all).split(' ');
  if (words.length !== WORDS) return null;
  const [fence = '', attempt, startedAt, attemptedAt, notBefore, scheduledAt, dueAt, reason, missed, ...rest] = words;
  const [generation, claimFence = '', claimedAt, enqueuedAt, delivery, priority, waiting, cancelAt, cancelUntil] = rest;
  const [claimedBy, error, by, payload, handler, cancelBy] = texts;
  return {
    id: runId,
    cron: cronOfRun(runId),
    scheduledAt: Number(scheduledAt),
    dueAt: Number(dueAt),
    state: 'running',
    reason: reason as RunReason,
    skipped: null,
    missed: decodeMissed(missed),
    generation: Number(generation),
    claimFence: parseFence(claimFence),
    claimedBy: claimedBy ?? '',
    claimedAt: Number(claimedAt),
    enqueuedAt: optionalNumber(enqueuedAt),
    delivery: Number(delivery),
    attempt: Number(attempt),
    fence: parseFence(fence),
    worker,
    startedAt: Number(startedAt),
    attemptedAt: Number(attemptedAt),
    notBefore: optionalNumber(notBefore),
    finishedAt: null,
    error: error || null,
    result: null,
    by: by ?? null,
    payload: payload ?? null,
    handler: handler ?? null,
    waiting: (waiting || null) as WaitReason | null,
    priority: optionalNumber(priority),
    unresolvedEffect: null,
    cancel: cancelAt ? { at: Number(cancelAt), by: cancelBy ?? '', until: Number(cancelUntil) } : null,
  } satisfies Run;
}

export function optionalNumber(text: string | undefined): number | null {
  return text ? Number(text) : null;
}

export function decodeMissed(text: string | undefined): MissedRange | null {
  if (!text) return null;
  const [count, from, to] = text.split(',').map(Number);
  return { count: count ?? 0, from: from ?? 0, to: to ?? 0 };
}
