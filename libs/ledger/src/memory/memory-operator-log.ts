import { NO_FENCE } from '@fencepost/lease';
import type {
  CancelReply,
  CancelRequest,
  EffectOutcome,
  OperatorLog,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
  UnresolvedEffectRef,
} from '../base/ledger.js';
import {
  checkPause,
  checkTrigger,
  checkUnresolvedEffect,
  checkWhole,
  isNatural,
  LATE_TRIGGER_MS,
  madeAt,
  resolutionText,
} from '../base/ledger-request.js';
import type { LedgerTiming } from '../base/ledger-timing.js';
import { endInMemory } from './memory-attempt.js';
import { freeCapacity, overlapOf } from './memory-capacity.js';
import { endEffect, endItem, itemsOf } from './memory-effect.js';
import {
  BLOCKS_ALWAYS,
  deliveryOfRun,
  isAlive,
  move,
  noteNotification,
  pauseInForce,
  rememberId,
  type MemoryCron,
  type MemoryRun,
} from './memory-ledger-record.js';
import type { StoreTime } from './memory-ledger-store.js';
import { MemoryOccurrenceLog } from './memory-occurrence-log.js';
import { acceptedBefore, acceptRun, newRun } from './memory-run.js';
import { checkCronName, cronOfRun } from '../base/occurrence.js';
import { isTerminal } from '../base/run-state.js';
import type { Pause, UnresolvedEffect } from '../base/run.js';

export class MemoryOperatorLog extends MemoryOccurrenceLog implements OperatorLog {
  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    checkTrigger(request);
    const cron = this.store.cron(cronOfRun(request.runId));
    return triggerInMemory(cron, request, this.store.time());
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    checkPause(cron, order);
    return pauseInMemory(this.store.cron(cron), order, this.store.now());
  }

  async resume(cron: string): Promise<Pause | null> {
    checkCronName(cron);
    return resumeInMemory(this.store.cron(cron), this.store.now());
  }

  async cancel(runId: string, order: CancelRequest): Promise<CancelReply> {
    checkWhole('graceMs', order.graceMs, 0);
    return cancelInMemory(this.store.run(runId), order, this.store.now());
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    return resolveInMemory(this.store.cron(cronOfRun(runId)), this.store.run(runId), {
      ...request,
      ...this.store.time(),
    });
  }
}

/** `trigger-run.lua`, line for line. */
function triggerInMemory(cron: MemoryCron, request: TriggerRequest, at: StoreTime): TriggerReply {
  const answer = knownRun(cron, request) ?? refuseUsed(cron, request, at.now) ?? refuse(cron, request);
  if (answer) return answer;
  const { runId: id, by, reason, generation } = request;
  const { skipped, surplus } = overlapOf(cron, request, at.now);
  const instant = request.scheduledAt ?? at.now;
  if (isNatural(request)) cron.asked.add(instant);
  if (request.keyMs) rememberId(cron, id, { now: at.now, ms: request.keyMs });
  const missed = structuredClone(request.missed);
  const isDelayed = !skipped && (request.notBefore ?? 0) > at.now;
  const notBefore = isDelayed ? (request.notBefore ?? null) : null;
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
  return acceptedBefore(run);
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

function pauseInMemory(cron: MemoryCron, order: OperatorOrder & { readonly until: number | null }, now: number): Pause {
  const { until, by, reason } = order;
  // Changed while in force it is still one pause: no instant since then has run.
  cron.paused = { since: pauseInForce(cron, now)?.since ?? now, until, by, reason };
  return { ...cron.paused };
}

function resumeInMemory(cron: MemoryCron, now: number): Pause | null {
  const ended = pauseInForce(cron, now);
  cron.paused = null;
  return ended;
}

/** `cancel-run.lua`, line for line. */
function cancelInMemory(run: MemoryRun | undefined, { by, graceMs }: CancelRequest, now: number): CancelReply {
  if (!run) return { verdict: 'missing' };
  const { record } = run;
  if (record.state === 'cancelled') return { verdict: 'cancelled' };
  if (isTerminal(record.state)) return { verdict: 'terminal', state: record.state };
  const alive = isAlive(run, now);
  const until = alive ? now + graceMs : now;
  if (alive && record.cancel && record.cancel.until <= until) {
    return { verdict: 'cancelling', until: record.cancel.until };
  }
  if (alive) tellToStop(run, { by, at: now, until });
  else {
    record.cancel ??= { by, at: now, until };
    endInMemory(run, 'cancel', now);
  }
  return alive ? { verdict: 'cancelling', until } : { verdict: 'cancelled' };
}

/** The run lease ends with the grace: everything that waits for the end of a worker sees to the rest. */
function tellToStop(run: MemoryRun, { by, at, until }: { by: string; at: number; until: number }): void {
  run.record.cancel = { ...(run.record.cancel ?? { at, by }), until };
  run.leaseUntil = run.lookAt = Math.min(run.leaseUntil, until);
}

/** `resolve-run.lua`, line for line. */
function resolveInMemory(
  cron: MemoryCron,
  run: MemoryRun | undefined,
  { now, timing, ...request }: ResolveRequest & StoreTime,
): ResolveReply {
  checkUnresolvedEffect(request.unresolvedEffect);
  if (!run) return { verdict: 'missing' };
  const { record } = run;
  if (run.resolved?.nonce === request.nonce) return structuredClone(run.resolved.reply);
  const { unresolvedEffect } = record;
  if (record.state !== 'uncertain' || unresolvedEffect === null) return { verdict: 'certain', state: record.state };
  if (!isSameEffect(request.unresolvedEffect, { ...unresolvedEffect, attempt: record.attempt })) {
    return { verdict: 'asks-another', attempt: record.attempt, unresolvedEffect: { ...unresolvedEffect } };
  }
  const { answer, nonce } = request;
  if (answer.verdict === 'give-up') {
    endInMemory(run, 'give-up', now);
    record.error = resolutionText(request);
    noteNotification(cron, run, now);
  } else {
    recordAnswer(run, unresolvedEffect, { request, now });
    enqueueAgain(run, now, timing);
  }
  const delivery = answer.verdict === 'give-up' ? null : deliveryOfRun(run);
  run.resolved = { nonce, reply: { verdict: 'resolved', state: record.state, delivery } };
  return structuredClone(run.resolved.reply);
}

function isSameEffect(one: UnresolvedEffectRef, other: UnresolvedEffectRef): boolean {
  const { attempt, effect, item, since } = one;
  return other.attempt === attempt && other.effect === effect && other.item === item && other.since === since;
}

/** What arrived as done meanwhile stands, whatever the answer is. */
function recordAnswer(
  run: MemoryRun,
  { effect, item }: UnresolvedEffect,
  { request, now }: { readonly request: ResolveRequest; readonly now: number },
): void {
  const { answer } = request;
  const outcome: EffectOutcome =
    answer.verdict === 'done'
      ? { kind: 'done', result: answer.result }
      : { kind: 'failed', error: resolutionText(request) };
  if (item !== null) endItem(itemsOf(run, effect), item, { ...outcome, now });
  else if (run.effects.get(effect)?.state !== 'done') endEffect(run, effect, { outcome, by: NO_FENCE, now });
}

function enqueueAgain(run: MemoryRun, now: number, { sweepMs }: LedgerTiming): void {
  move(run, 'answer');
  run.record.unresolvedEffect = null;
  run.record.notBefore = now;
  run.record.delivery += 1;
  run.extraAttempts += 1;
  run.leaseUntil = BLOCKS_ALWAYS;
  run.lookAt = now + sweepMs;
}
