import { FenceExhaustedError, type Fence } from '@fencepost/lease';
import type { AttemptOutcome, AttemptRef, BeginReply, BeginRequest } from '../base/ledger.js';
import { POSITION_MS, type LedgerTiming } from '../base/ledger-timing.js';
import {
  BLOCKS_ALWAYS,
  blocks,
  isAlive,
  move,
  noteNotification,
  snapshot,
  type MemoryCron,
  type MemoryRun,
} from './memory-ledger-record.js';
import { isTerminal, type RunEvent, type RunState } from '../base/run-state.js';
import type { UnresolvedEffect } from '../base/run.js';

/** The run, if this attempt is the one that may change it: the one place where an attempt's fence is compared. */
export function currentRun(run: MemoryRun | undefined, attempt: AttemptRef): MemoryRun | null {
  if (run?.record.state !== 'running') return null;
  return run.record.fence === attempt.fence && run.attemptNonce === attempt.nonce ? run : null;
}

/** `begin-attempts.lua` for one run, line for line. */
export function beginInMemory(cron: MemoryCron, request: BeginRequest, now: number): BeginReply {
  const run = cron.runs.get(request.runId);
  if (!run) return { verdict: 'missing' };
  if (run.record.state === 'running' && run.attemptNonce === request.nonce) return begun(run);
  const { state } = run.record;
  const refused = refuse(run, request, now);
  // Its attempts are used up.
  if (run.record.state !== state) noteNotification(cron, run, now);
  return refused ?? awaitPosition(cron, run, now) ?? start(cron, run, { ...request, now });
}

function refuse(run: MemoryRun, request: BeginRequest, now: number): BeginReply | null {
  const { record } = run;
  if (isTerminal(record.state)) return { verdict: 'terminal', state: record.state };
  if (record.state === 'uncertain') return { verdict: 'uncertain' };
  if (isAlive(run, now)) {
    // More than was ever asked for was left by a clock that went back.
    if (run.leaseUntil - now > run.leaseMs * 2) run.leaseUntil = run.lookAt = now + run.leaseMs;
    return { verdict: 'busy', waitMs: run.leaseUntil - now };
  }
  if (giveUpInMemory(run, now)) return { verdict: 'terminal', state: record.state };
  const waitMs = (record.notBefore ?? now) - now;
  if (waitMs > 0) return { verdict: 'not-due', waitMs };
  if (record.attempt < request.maxAttempts + run.extraAttempts) return null;
  endInMemory(run, 'exhaust', now);
  record.error = 'every attempt is used up; the last one never reported';
  return { verdict: 'terminal', state: 'failed', exhausted: true };
}

/** Ends a run that nobody carries out when nobody shall begin it any more: told to stop, or past its start deadline. */
export function giveUpInMemory(run: MemoryRun, now: number): boolean {
  const { record, startBy } = run;
  if (record.cancel) {
    endInMemory(run, 'cancel', now);
    return true;
  }
  if (record.attempt > 0 || startBy === null || now <= startBy) return false;
  endInMemory(run, 'expire', now);
  record.skipped = 'misfire';
  return true;
}

export function endInMemory(run: MemoryRun, event: RunEvent, now: number): void {
  move(run, event);
  run.record.finishedAt = now;
  run.record.unresolvedEffect = null;
  run.lookAt = null;
}

/** As many other runs of the cron go on as may; for `queue-all`, or as many are ahead in the line. */
function awaitPosition(cron: MemoryCron, run: MemoryRun, now: number): BeginReply | null {
  if (run.overlap === 'allow') return null;
  const others = [...cron.runs.values()].filter((other) => other !== run);
  for (const other of others) fenceOut(other, now);
  const blocking = others.filter((other) => blocks(other, now));
  const alive = blocking.filter((other) => isAlive(other, now));
  const ahead = run.overlap === 'queue-all' ? blocking.filter((other) => isAhead(other, run)) : [];
  if (Math.max(alive.length, ahead.length) < run.maxConcurrency) return null;
  const ends = alive.map(({ leaseUntil }) => leaseUntil - now);
  // Asked again soon after its predecessor's end, which may come long before that one's lease is over.
  return { verdict: 'busy', waitMs: Math.min(...ends, positionMs(run, ahead.length)) };
}

/** The nearer to the head of its line, the sooner: a line goes on no faster than its head is asked. */
function positionMs({ overlap, maxConcurrency }: MemoryRun, ahead: number): number {
  if (overlap !== 'queue-all') return POSITION_MS;
  const position = Math.max(ahead - maxConcurrency, 0) + 1;
  return (POSITION_MS * Math.min(position, 4)) / 4;
}

/** A predecessor that was told to stop and has had its time doesn't get in the way of its successor any more. */
function fenceOut(other: MemoryRun, now: number): void {
  const { state, cancel } = other.record;
  if (cancel && !isTerminal(state) && !blocks(other, now)) endInMemory(other, 'cancel', now);
}

/** By its place in the index of runs. */
function isAhead({ record: one }: MemoryRun, { record: other }: MemoryRun): boolean {
  return one.scheduledAt === other.scheduledAt ? one.id < other.id : one.scheduledAt < other.scheduledAt;
}

function start(
  cron: MemoryCron,
  run: MemoryRun,
  { nonce, worker, ttlMs, notify = '', now }: BeginRequest & { now: number },
): BeginReply {
  const fence = Math.max(cron.runFence + 1, now * 1000);
  if (!Number.isSafeInteger(fence)) throw new FenceExhaustedError(run.record.cron);
  cron.runFence = fence as Fence;
  move(run, 'begin');
  const { record } = run;
  record.startedAt ??= now;
  Object.assign(record, { attempt: record.attempt + 1, fence, worker, attemptedAt: now, waiting: null });
  if (notify !== '') run.notify = notify;
  const leaseUntil = now + ttlMs;
  Object.assign(run, { attemptNonce: nonce, leaseUntil, leaseMs: ttlMs, lookAt: leaseUntil });
  return begun(run);
}

function begun(run: MemoryRun): BeginReply {
  const { fence, attempt } = run.record;
  if (fence === null) throw new Error(`Run ${run.record.id} is running without a fence.`);
  return { verdict: 'begun', fence, attempt, run: snapshot(run) };
}

const EVENT = {
  succeeded: 'succeed',
  failed: 'fail',
  cancelled: 'cancel',
  retry: 'cancel',
  uncertain: 'cancel',
} as const;

interface Now {
  readonly now: number;
  readonly timing: LedgerTiming;
}

interface Ended extends Now {
  readonly outcome: AttemptOutcome;
}

/** `finish-attempts.lua` for the attempt that is the current one. */
export function finishInMemory(cron: MemoryCron, run: MemoryRun, { outcome, ...at }: Ended): RunState {
  const { record } = run;
  record.error = outcome.kind === 'succeeded' ? null : outcome.error || null;
  if (outcome.kind === 'succeeded') record.result = outcome.result ?? null;
  // Who failed, or didn't know what it did, before it heard that it was to stop is neither tried again nor asked about.
  if (outcome.kind === 'retry' && record.cancel === null) tryAgain(run, outcome.delayMs, at);
  else if (outcome.kind === 'uncertain' && record.cancel === null)
    leaveUncertain(run, outcome.unresolvedEffect, at.now);
  else endInMemory(run, EVENT[outcome.kind], at.now);
  noteNotification(cron, run, at.now);
  run.finished = { nonce: run.attemptNonce ?? '', state: record.state };
  return record.state;
}

function tryAgain(run: MemoryRun, delayMs: number, { now, timing }: Now): void {
  move(run, 'retry');
  run.record.notBefore = now + delayMs;
  run.lookAt = run.record.notBefore + timing.sweepMs;
  run.leaseUntil = BLOCKS_ALWAYS;
}

/** Nobody looks at it until somebody answers. */
function leaveUncertain(run: MemoryRun, unresolvedEffect: UnresolvedEffect, now: number): void {
  move(run, 'need-operator');
  run.record.unresolvedEffect = structuredClone(unresolvedEffect);
  run.lookAt = null;
  run.doubtedAt = now;
}
