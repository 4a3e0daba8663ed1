import { ownerPrefix } from '@fencepost/lease/internal';
import type { Pause, WaitReason } from '@fencepost/ledger/run';

/** Why a cron stands still, in a word; the first one that applies. */
export type StandstillCause =
  | ('lease-store-down' | 'store-clock-back' | 'ledger-fails' | 'paused')
  | ('no-worker' | 'queue-paused' | 'workers-busy' | 'handler-hangs' | 'unclaimed');

/** A cron that should have run and did not, or whose run does not end. */
export interface Standstill {
  readonly cron: string;
  readonly cause: StandstillCause;
  /** When the first instant without a run was due, or the attempt began; epoch milliseconds of the store. */
  readonly since: number;
  /** What is wrong and what to do, for people. */
  readonly text: string;
  /** The run in the way, if there is one. */
  readonly runId: string | null;
}

/** What is known of a cron that stands still. Instants are epoch milliseconds of the store. */
export interface StandstillFacts {
  readonly cron: string;
  readonly now: number;
  readonly since: number;
  /** The store of the crons' leases fails. */
  readonly leaseStore?: { readonly place: string; readonly downMs: number } | null;
  /** How far the store's clock is behind the latest time that it has shown. */
  readonly clockBackMs?: number;
  /** Claims fail: the ledger or the queue does not take them. */
  readonly fails?: boolean;
  readonly paused?: Pause | null;
  /** The oldest run that no worker has begun, and the queue that keeps it, if an operator has paused that. */
  readonly waiting?: { readonly runId: string; readonly why: WaitReason | null; readonly pausedQueue: string | null };
  /** An attempt that takes far longer than usual; `usualMs` is `null` for a cron without a success on record. */
  readonly attempt?: { readonly runId: string; readonly worker: string; readonly usualMs: number | null };
}

type Sentence = (facts: StandstillFacts) => string | null;

const CAUSES: readonly (readonly [StandstillCause, Sentence])[] = [
  [
    'handler-hangs',
    ({ attempt, since, now }) =>
      attempt
        ? `Run ${attempt.runId} has been running for ${inWords(now - since)} on ${ownerPrefix(attempt.worker)}${usually(attempt.usualMs)}. Until it ends, overlap "skip" skips every later instant. Cancel it ("fencepost cancel"), and give its job a "timeout".`
        : null,
  ],
  [
    'lease-store-down',
    ({ leaseStore, since }) =>
      leaseStore
        ? `No run since ${utc(since)}: the lease store ${leaseStore.place} has failed for ${inWords(leaseStore.downMs)}, so no scheduler can hold the cron. Make it reachable, or restore its majority.`
        : null,
  ],
  [
    'store-clock-back',
    ({ clockBackMs = 0, since }) =>
      clockBackMs > 0
        ? `No run since ${utc(since)}: the store's clock went back and is still ${inWords(clockBackMs)} behind the latest time it has shown. No occurrence is claimed until it has caught up; let NTP set the clock of the store's host.`
        : null,
  ],
  [
    'ledger-fails',
    ({ fails, since }) =>
      fails
        ? `No run since ${utc(since)}: every claim fails in the ledger or the queue. The log has the errors.`
        : null,
  ],
  ['paused', ({ paused }) => (paused ? `${paused.by} paused it at ${utc(paused.since)}: ${paused.reason}.` : null)],
  [
    'no-worker',
    ({ waiting, since }) =>
      waiting?.why === 'no-capable-worker'
        ? `Run ${waiting.runId} has waited since ${utc(since)}: no live worker has its handler. Start a worker with it.`
        : null,
  ],
  [
    'queue-paused',
    ({ waiting, since }) =>
      waiting && waiting.pausedQueue !== null
        ? `Run ${waiting.runId} has waited since ${utc(since)}: an operator paused the queue "${waiting.pausedQueue}". Resume the queue.`
        : null,
  ],
  [
    'workers-busy',
    ({ waiting, since }) =>
      waiting
        ? `Run ${waiting.runId} has waited since ${utc(since)} and no worker has begun it: the workers are busy, limited or away. Check "fencepost pods".`
        : null,
  ],
  [
    'unclaimed',
    ({ since }) =>
      `It was due at ${utc(since)} and no scheduler has claimed it. Check "fencepost pods" and "fencepost leases".`,
  ],
];

/** Finds the cause by facts alone; asks nobody. The only place that names it: log, `doctor`, `list`, page, metric and alarm repeat it. */
export function judgeStandstill(facts: StandstillFacts): Standstill {
  const { cron, since, waiting, attempt } = facts;
  for (const [cause, sentence] of CAUSES) {
    const text = sentence(facts);
    if (text !== null) return { cron, cause, since, text, runId: attempt?.runId ?? waiting?.runId ?? null };
  }
  throw new RangeError(`Expected a cause for the standstill of "${cron}".`);
}

/** A run shorter than this is never called long. */
const LONG_MS = 60_000;
const TIMES_P95 = 10;

/**
 * From when on an attempt takes far longer than usual, milliseconds: ten times the 95th percentile of its history, or without a
 * success on record the period of its cron; at least a minute. `Infinity` where neither is known.
 */
export function longAfterMs({ p95Ms, periodMs }: { readonly p95Ms: number | null; readonly periodMs: number | null }) {
  return Math.max(LONG_MS, p95Ms === null ? (periodMs ?? Infinity) : p95Ms * TIMES_P95);
}

function usually(usualMs: number | null): string {
  return usualMs === null ? '' : `; 95 of 100 take at most ${inWords(usualMs)}`;
}

function utc(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

/** `350 ms`, `12 s`, `12 min`, `3 h`. */
function inWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 5_400_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
