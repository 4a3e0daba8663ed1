import { DEFAULT_CANCEL_GRACE_MS } from '../base/run.js';
import type { CancelReply, ResolveReply, ResolveRequest, TriggerReply, TriggerRequest } from '../base/ledger.js';
import {
  DEFAULT_MAX_CONCURRENCY,
  isNatural,
  LATE_TRIGGER_MS,
  madeAt,
  resolutionText,
  RECORDED_AS,
} from '../base/ledger-request.js';
import type { LedgerTiming } from '../base/ledger-timing.js';
import { blockedReason, deliveryOf, encodeOptions, encodeRest, REASON_LETTERS } from './redis-run-codec.js';
import type { RunState } from '../base/run-state.js';
import type { UnresolvedEffect } from '../base/run.js';

/** The ARGV of `trigger-run`, in the order its header gives. */
export function encodeTrigger(request: TriggerRequest, { recoverMs, keepMs }: LedgerTiming): (string | number)[] {
  const { runId, nonce, scheduledAt, reason, by, generation } = request;
  return [
    runId,
    nonce,
    scheduledAt ?? '',
    isNatural(request) ? 1 : '',
    request.overlap,
    request.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    request.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    recoverMs,
    keepMs,
    ...[request.notBefore ?? '', request.keyMs ?? '', madeAt(runId) ?? '', LATE_TRIGGER_MS],
    request.cronSince ?? '',
    ...[generation, REASON_LETTERS[reason], by, encodeRest({ ...request, startBy: null }, 0, request.missed)],
    ...encodeOptions(request),
  ];
}

/** What `trigger-run.lua` answers. */
export function decodeTrigger(reply: readonly string[], runId: string): TriggerReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CLAIMED':
      return { verdict: 'claimed', runId };
    case 'SKIPPED':
      return { verdict: 'skipped', reason: blockedReason(detail) };
    case 'EXISTS':
      return { verdict: 'exists', state: detail as RunState };
    case 'AHEAD':
      return { verdict: 'ahead' };
    case 'FORGOTTEN':
      return { verdict: 'forgotten' };
    default:
      throw new Error(`Expected a reply of trigger-run, got ${JSON.stringify(reply)}.`);
  }
}

/** What `cancel-run` answered. */
export function decodeCancel(reply: readonly string[]): CancelReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CANCELLED':
      return { verdict: 'cancelled' };
    case 'CANCELLING':
      return { verdict: 'cancelling', until: Number(detail) };
    case 'TERMINAL':
      return { verdict: 'terminal', state: detail as RunState };
    case 'MISSING':
      return { verdict: 'missing' };
    default:
      throw new Error(`Expected a reply of cancel-run, got ${JSON.stringify(reply)}.`);
  }
}

/** The ARGV of `resolve-run`, in the order its header gives. */
export function encodeResolve(request: ResolveRequest, { sweepMs, keepMs }: LedgerTiming): (string | number)[] {
  const { answer, nonce, unresolvedEffect } = request;
  const { attempt, effect, item, since } = unresolvedEffect;
  const text = answer.verdict === 'done' ? answer.result : resolutionText(request);
  return [
    ...[nonce, RECORDED_AS[answer.verdict], text, sweepMs, keepMs],
    ...[attempt, effect, item === null ? '' : 1, item ?? '', since],
  ];
}

/** What `resolve-run` answered. */
export function decodeResolve(reply: readonly string[], runId: string): ResolveReply {
  const [word, state, delivery, priority] = reply;
  switch (word) {
    case 'RESOLVED':
      return {
        verdict: 'resolved',
        state: state as RunState,
        delivery: delivery ? deliveryOf(runId, delivery, priority) : null,
      };
    case 'CERTAIN':
      return { verdict: 'certain', state: state as RunState };
    case 'ANOTHER':
      return {
        verdict: 'asks-another',
        attempt: Number(reply[1]),
        unresolvedEffect: JSON.parse(reply[2] ?? '') as UnresolvedEffect,
      };
    case 'MISSING':
      return { verdict: 'missing' };
    default:
      throw new Error(`Expected a reply of resolve-run, got ${JSON.stringify(reply)}.`);
  }
}
