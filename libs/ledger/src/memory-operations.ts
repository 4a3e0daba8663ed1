import { NO_FENCE } from '@fencepost/lease';
import type { OperatorOrder, TriggerReply, TriggerRequest } from './ledger.js';
import { isNatural, LATE_TRIGGER_MS, madeAt } from './ledger-request.js';
import type { LedgerTiming } from './ledger-timing.js';
import { noteAction, pauseInForce, rememberId, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { freeCapacity, overlapOf } from './memory-capacity.js';
import { acceptRun, newRun } from './memory-run.js';
import type { Pause } from './run.js';
import { cronOfRun } from './occurrence.js';

interface Now {
  readonly now: number;
  readonly timing: LedgerTiming;
}

/** `trigger-run.lua`, line for line. */
export function triggerInMemory(cron: MemoryCron, request: TriggerRequest, at: Now): TriggerReply {
  const answer = knownRun(cron, request) ?? refuseUsed(cron, request, at.now) ?? refuse(cron, request);
  if (answer) return answer;
  const { runId: id, by, reason, generation, why } = request;
  const { skipped, surplus } = overlapOf(cron, request, at.now);
  noteAction(cron, {
    at: at.now,
    action: reason === 'backfill' ? 'backfill' : 'trigger',
    by,
    reason: why,
    runId: id,
  });
  const instant = request.scheduledAt ?? at.now;
  if (isNatural(request)) cron.asked.add(instant);
  if (request.keyMs) rememberId(cron, id, { now: at.now, ms: request.keyMs });
  const missed = structuredClone(request.missed);
  const notBefore = (request.notBefore ?? 0) > at.now ? (request.notBefore ?? null) : null;
  const due = { scheduledAt: instant, dueAt: notBefore ?? instant, notBefore };
  const facts = { id, cron: cronOfRun(id), ...due, reason, missed, generation, by };
  const run = newRun({ ...facts, claimFence: NO_FENCE, claimedBy: by, claimedAt: at.now }, request);
  if (!skipped) {
    freeCapacity(cron, { id, policy: request, surplus, now: at.now });
    copyDone(cron.runs.get(request.rerunOf ?? ''), run);
  }
  return acceptRun(cron, run, { ...at, skipped });
}

/** What is done of one run is done for the other. Who may report late is not: no attempt of it has begun anything here. */
function copyDone(from: MemoryRun | undefined, to: MemoryRun): void {
  for (const [name, effect] of from?.effects ?? []) if (effect.state === 'done') to.effects.set(name, { ...effect });
  for (const [name, items] of from?.items ?? []) {
    to.items.set(name, new Map([...items].filter(([, { state }]) => state === 'done')));
  }
}

function knownRun(cron: MemoryCron, { runId, nonce }: TriggerRequest): TriggerReply | null {
  const run = cron.runs.get(runId);
  if (!run) return null;
  if (run.claimNonce !== nonce) return { verdict: 'exists', state: run.record.state };
  return run.record.skipped === 'overlap' ? { verdict: 'skipped', reason: 'overlap' } : { verdict: 'claimed', runId };
}

/** The id of a run whose record is gone makes no other one while a duplicate of it may come. */
function refuseUsed(cron: MemoryCron, { runId, rerunOf }: TriggerRequest, now: number): TriggerReply | null {
  const late = now - (madeAt(runId) ?? now) > LATE_TRIGGER_MS;
  const over = (cron.used.get(runId) ?? 0) > now || (rerunOf && !cron.runs.has(rerunOf));
  return late || over ? { verdict: 'forgotten' } : null;
}

function refuse(cron: MemoryCron, request: TriggerRequest): TriggerReply | null {
  const { scheduledAt } = request;
  if (scheduledAt === null) return null;
  const reached = cron.cursor ?? request.cronSince ?? null;
  if (reached === null || scheduledAt > reached) return { verdict: 'ahead' };
  if (!isNatural(request)) return null;
  const skipped = cron.skips.some(({ after, through }) => after < scheduledAt && scheduledAt <= through);
  const known = skipped || scheduledAt <= (cron.began ?? request.cronSince ?? 0);
  return known && !cron.asked.has(scheduledAt) ? null : { verdict: 'forgotten' };
}

export function pauseInMemory(
  cron: MemoryCron,
  order: OperatorOrder & { readonly until: number | null },
  now: number,
): Pause {
  const { until, by, reason } = order;
  // Changed while in force it is still one pause: no instant since then has run.
  cron.paused = { since: pauseInForce(cron, now)?.since ?? now, until, by, reason };
  noteAction(cron, { at: now, action: 'pause', by, reason, runId: null });
  return { ...cron.paused };
}

export function resumeInMemory(cron: MemoryCron, { by, reason }: OperatorOrder, now: number): Pause | null {
  const ended = pauseInForce(cron, now);
  cron.paused = null;
  if (ended) noteAction(cron, { at: now, action: 'resume', by, reason, runId: null });
  return ended;
}
