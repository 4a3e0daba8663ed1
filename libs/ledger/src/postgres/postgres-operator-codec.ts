import type { ResolveReply, ResolveRequest, TriggerRequest } from '../base/ledger.js';
import {
  DEFAULT_MAX_CONCURRENCY,
  isNatural,
  LATE_TRIGGER_MS,
  madeAt,
  resolutionText,
  RECORDED_AS,
} from '../base/ledger-request.js';
import { DEFAULT_CANCEL_GRACE_MS, type UnresolvedEffect } from '../base/run.js';
import type { RunState } from '../base/run-state.js';

/** The request as the header of `trigger_run` describes it. */
export function encodeTrigger(request: TriggerRequest): object {
  const { maxConcurrency, cancelGraceMs, ...facts } = request;
  return {
    ...facts,
    natural: isNatural(request),
    madeAt: madeAt(request.runId),
    lateMs: LATE_TRIGGER_MS,
    most: maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    grace: cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
  };
}

/** The request as the header of `resolve_run` describes it. */
export function encodeResolve(request: ResolveRequest): object {
  const { answer, nonce, unresolvedEffect } = request;
  const order = { nonce, question: unresolvedEffect, kind: RECORDED_AS[answer.verdict] };
  const ending = answer.verdict === 'done' ? { result: answer.result } : { error: resolutionText(request) };
  return { ...order, ...ending };
}

/** The reply of `resolve_run`. */
export type ResolveRow =
  | Exclude<ResolveReply, { readonly verdict: 'resolved' | 'asks-another' }>
  | { readonly verdict: 'asks-another'; readonly attempt: number; readonly question: UnresolvedEffect }
  | {
      readonly verdict: 'resolved';
      readonly state: RunState;
      readonly delivery: number | null;
      readonly priority: number | null;
    };

export function decodeResolve(row: ResolveRow, runId: string): ResolveReply {
  if (row.verdict === 'asks-another') {
    const { question: unresolvedEffect, ...rest } = row;
    return { ...rest, unresolvedEffect };
  }
  if (row.verdict !== 'resolved') return row;
  const { verdict, state, delivery, priority } = row;
  if (delivery === null) return { verdict, state, delivery };
  return { verdict, state, delivery: { runId, delivery, ...(priority === null ? {} : { priority }) } };
}
