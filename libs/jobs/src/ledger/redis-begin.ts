import { FenceExhaustedError, parseFence } from '@fencepost/lease';
import { cronOfRun } from '../schedule/occurrence.js';
import type { BeginReply, BeginRequest } from './ledger.js';
import { optionalNumber, readMissed } from './redis-run-record.js';
import type { Run, RunReason, WaitReason } from './run.js';
import type { RunState } from './run-state.js';

type Row = readonly unknown[];

/**
 * What `begin-attempts` answered of one run. The record comes with the reply: read by a second command it could be from
 * before, when the script has to be sent again to a server that no longer knows it.
 * @throws {FenceExhaustedError}
 */
export function beginReply(reply: string | Row, request: Pick<BeginRequest, 'runId' | 'worker'>): BeginReply {
  const [word, detail] = typeof reply === 'string' ? [reply] : reply;
  switch (word) {
    case 'BEGUN': {
      const run = begunRun(reply as Row, request);
      if (run === null) break;
      return { verdict: 'begun', fence: run.fence, attempt: run.attempt, run };
    }
    case 'BUSY':
      return { verdict: 'busy', waitMs: Number(detail) };
    case 'NOT_DUE':
      return { verdict: 'not-due', waitMs: Number(detail) };
    case 'TERMINAL':
      return { verdict: 'terminal', state: detail as RunState };
    case 'UNCERTAIN':
      return { verdict: 'uncertain' };
    case 'MISSING':
      return { verdict: 'missing' };
    case 'FENCE_EXHAUSTED':
      throw new FenceExhaustedError(cronOfRun(request.runId));
  }
  throw new Error(`Expected a reply of begin-attempts, got ${JSON.stringify(reply)}.`);
}

/** How many words the first text of a begun run has: what has no spaces in it, empty where there is none. */
const WORDS = 18;

type Texts = readonly (string | null | undefined)[];

/** `skipped`, `finishedAt` and `question` aren't there, because a run that goes on has none. */
function begunRun(reply: Row, { runId, worker }: Pick<BeginRequest, 'runId' | 'worker'>) {
  const words = String(reply[1]).split(' ');
  if (words.length !== WORDS) return null;
  const [fence = '', attempt, startedAt, attemptedAt, notBefore, scheduledAt, dueAt, reason, missed, ...rest] = words;
  const [generation, claimFence = '', claimedAt, enqueuedAt, delivery, priority, waiting, cancelAt, cancelUntil] = rest;
  const [claimedBy, error, by, payload, handler, cancelBy] = reply.slice(2) as Texts;
  return {
    id: runId,
    cron: cronOfRun(runId),
    scheduledAt: Number(scheduledAt),
    dueAt: Number(dueAt),
    state: 'running',
    reason: reason as RunReason,
    skipped: null,
    missed: readMissed(missed),
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
    by: by ?? null,
    payload: payload ?? null,
    handler: handler ?? null,
    waiting: (waiting || null) as WaitReason | null,
    priority: optionalNumber(priority),
    question: null,
    cancel: cancelAt ? { at: Number(cancelAt), by: cancelBy ?? '', until: Number(cancelUntil) } : null,
  } satisfies Run;
}
