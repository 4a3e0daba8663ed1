import { FenceExhaustedError, type Fence } from '@fencepost/lease';
import type { AttemptOutcome, AttemptRef, BeginReply, BeginRequest } from './ledger.js';
import type { LedgerTiming } from './ledger-timing.js';
import { BLOCKS_ALWAYS, isAlive, move, snapshot, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { isTerminal, type RunState } from './run-state.js';

/** The run, if this attempt is the one that may change it: the one place where an attempt's fence is compared. */
export function currentRun(run: MemoryRun | undefined, attempt: AttemptRef): MemoryRun | null {
  if (run?.record.state !== 'running') return null;
  return run.record.fence === attempt.fence && run.attemptNonce === attempt.nonce ? run : null;
}

/** `begin-attempt.lua`, line for line. */
export function beginInMemory(cron: MemoryCron, request: BeginRequest, now: number): BeginReply {
  const run = cron.runs.get(request.runId);
  if (!run) return { verdict: 'missing' };
  if (run.record.state === 'running' && run.attemptNonce === request.nonce) return begun(run);
  return refuse(run, request, now) ?? rivalOf(cron, run, now) ?? start(cron, run, { ...request, now });
}

function refuse(run: MemoryRun, request: BeginRequest, now: number): BeginReply | null {
  const { record } = run;
  if (isTerminal(record.state)) return { verdict: 'terminal', state: record.state };
  if (isAlive(run, now)) {
    // More than was ever asked for was left by a clock that went back.
    if (run.leaseUntil - now > run.leaseMs * 2) run.leaseUntil = run.lookAt = now + run.leaseMs;
    return { verdict: 'busy', waitMs: run.leaseUntil - now };
  }
  const waitMs = (record.notBefore ?? now) - now;
  if (waitMs > 0) return { verdict: 'not-due', waitMs };
  if (record.attempt < request.maxAttempts) return null;
  move(run, 'exhaust');
  Object.assign(record, { error: 'every attempt is used up; the last one never reported', finishedAt: now });
  run.lookAt = null;
  return { verdict: 'terminal', state: 'failed' };
}

function rivalOf(cron: MemoryCron, run: MemoryRun, now: number): BeginReply | null {
  if (run.overlap !== 'skip') return null;
  const ends = [...cron.runs.values()].filter((other) => isAlive(other, now)).map((other) => other.leaseUntil);
  return ends.length === 0 ? null : { verdict: 'busy', waitMs: Math.min(...ends) - now };
}

function start(
  cron: MemoryCron,
  run: MemoryRun,
  { nonce, worker, ttlMs, now }: BeginRequest & { now: number },
): BeginReply {
  const fence = Math.max(cron.runFence + 1, now * 1000);
  if (!Number.isSafeInteger(fence)) throw new FenceExhaustedError(run.record.cron);
  cron.runFence = fence as Fence;
  move(run, 'begin');
  const { record } = run;
  record.startedAt ??= now;
  Object.assign(record, { attempt: record.attempt + 1, fence, worker, attemptedAt: now });
  const leaseUntil = now + ttlMs;
  Object.assign(run, { attemptNonce: nonce, leaseUntil, leaseMs: ttlMs, lookAt: leaseUntil });
  return begun(run);
}

function begun(run: MemoryRun): BeginReply {
  const { fence, attempt } = run.record;
  if (fence === null) throw new Error(`Run ${run.record.id} is running without a fence.`);
  return { verdict: 'begun', fence, attempt, run: snapshot(run) };
}

const EVENT = { succeeded: 'succeed', failed: 'fail', retry: 'retry' } as const;

/** `finish-attempt.lua` for the attempt that is the current one. */
export function finishInMemory(
  run: MemoryRun,
  outcome: AttemptOutcome,
  at: { now: number; timing: LedgerTiming },
): RunState {
  const { record } = run;
  move(run, EVENT[outcome.kind]);
  record.error = outcome.kind === 'succeeded' ? null : outcome.error || null;
  run.finished = { nonce: run.attemptNonce ?? '', state: record.state };
  if (outcome.kind === 'retry') {
    record.notBefore = at.now + outcome.delayMs;
    run.lookAt = record.notBefore + at.timing.sweepMs;
    run.leaseUntil = BLOCKS_ALWAYS;
  } else {
    record.finishedAt = at.now;
    run.lookAt = null;
  }
  return record.state;
}
