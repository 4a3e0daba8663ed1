import type { LedgerTiming } from '../base/ledger-timing.js';
import { DEFAULT_MAX_CONCURRENCY } from '../base/ledger-request.js';
import { BLOCKS_ALWAYS, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import type { BlockedReason, MissedRange, OverlapPolicy, Run } from '../base/run.js';

/** Who wants the run, for when, and why. */
type Facts = Pick<
  Run,
  | 'id'
  | 'cron'
  | 'scheduledAt'
  | 'dueAt'
  | 'reason'
  | 'missed'
  | 'generation'
  | 'claimFence'
  | 'claimedBy'
  | 'claimedAt'
  | 'by'
> & { readonly notBefore?: number | null };

interface RunRequest {
  readonly nonce: string;
  readonly overlap: OverlapPolicy;
  readonly maxConcurrency?: number;
  readonly startBy?: number | null;
  readonly handler?: string | null;
  readonly payload?: string | null;
  readonly priority?: number | null;
}

/** A run as it is claimed. */
export function newRun(facts: Facts & { readonly missed: MissedRange | null }, request: RunRequest): MemoryRun {
  return {
    record: {
      ...UNTOUCHED,
      ...facts,
      payload: request.payload ?? null,
      handler: request.handler ?? null,
      priority: request.priority ?? null,
      notBefore: facts.notBefore ?? null,
    },
    claimNonce: request.nonce,
    overlap: request.overlap,
    maxConcurrency: request.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    startBy: request.startBy ?? null,
    effects: new Map(),
    items: new Map(),
    allowed: new Map(),
    notify: '',
    extraAttempts: 0,
    doubtedAt: 0,
    resolved: null,
    deliveryNonce: null,
    attemptNonce: null,
    finished: null,
    leaseUntil: BLOCKS_ALWAYS,
    leaseMs: 0,
    lookAt: null,
  };
}

const UNTOUCHED = {
  state: 'claimed',
  skipped: null,
  enqueuedAt: null,
  delivery: 1,
  attempt: 0,
  fence: null,
  worker: null,
  startedAt: null,
  attemptedAt: null,
  finishedAt: null,
  error: null,
  result: null,
  waiting: null,
  unresolvedEffect: null,
  cancel: null,
} as const;

type Accepted =
  | { readonly verdict: 'claimed'; readonly runId: string }
  | { readonly verdict: 'skipped'; readonly reason: BlockedReason };

interface Acceptance {
  readonly skipped: BlockedReason | null;
  readonly now: number;
  readonly timing: LedgerTiming;
}

/** How a repeated request is answered. The run may be superseded or expired by now: claimed it was. */
export function acceptedBefore({ record: { id, skipped } }: MemoryRun): Accepted {
  const isBlocked = skipped === 'overlap' || skipped === 'no-capable-worker';
  return isBlocked ? { verdict: 'skipped', reason: skipped } : { verdict: 'claimed', runId: id };
}

/** Keeps the record of a run that is to be, or of one that is not because of others. */
export function acceptRun(cron: MemoryCron, run: MemoryRun, { skipped, now, timing }: Acceptance): Accepted {
  cron.runs.set(run.record.id, run);
  if (skipped) {
    const waiting = skipped === 'overlap' ? null : skipped;
    Object.assign(run.record, { state: 'skipped', skipped, waiting, delivery: 0, finishedAt: now });
    return { verdict: 'skipped', reason: skipped };
  }
  run.lookAt = Math.max(now, run.record.notBefore ?? now) + timing.recoverMs;
  return { verdict: 'claimed', runId: run.record.id };
}
