import { NO_FENCE } from '@fencepost/lease';
import type { EffectOutcome, UnresolvedEffectRef, ResolveReply, ResolveRequest } from './ledger.js';
import { checkUnresolvedEffect } from './ledger-request.js';
import type { LedgerTiming } from './ledger-timing.js';
import { endInMemory } from './memory-attempt.js';
import { deliveryOfRun } from './memory-delivery.js';
import { endEffect } from './memory-effect.js';
import { endItem, itemsOf } from './memory-items.js';
import { BLOCKS_ALWAYS, move, noteAction, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { noteNotification } from './memory-notifications.js';
import { resolutionText } from './resolution.js';
import type { UnresolvedEffect } from './run.js';

interface Now {
  readonly now: number;
  readonly timing: LedgerTiming;
}

/** `resolve-run.lua`, line for line. */
export function resolveInMemory(
  cron: MemoryCron,
  run: MemoryRun | undefined,
  { now, timing, ...request }: ResolveRequest & Now,
): ResolveReply {
  checkUnresolvedEffect(request.question);
  if (!run) return { verdict: 'missing' };
  const { record } = run;
  if (run.resolved?.nonce === request.nonce) return structuredClone(run.resolved.reply);
  const { question } = record;
  if (record.state !== 'uncertain' || question === null) return { verdict: 'certain', state: record.state };
  if (!isSameEffect(request.question, { ...question, attempt: record.attempt })) {
    return { verdict: 'asks-another', attempt: record.attempt, question: { ...question } };
  }
  const { by, reason, answer, nonce } = request;
  noteAction(cron, { at: now, action: 'resolve', by, reason, runId: record.id });
  if (answer.verdict === 'give-up') {
    endInMemory(run, 'give-up', now);
    record.error = resolutionText(request);
    noteNotification(cron, run, now);
  } else {
    recordAnswer(run, question, { request, now });
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
  run.record.question = null;
  run.record.notBefore = now;
  run.record.delivery += 1;
  run.extraAttempts += 1;
  run.leaseUntil = BLOCKS_ALWAYS;
  run.lookAt = now + sweepMs;
}
