import type { ResolveReply, ResolveRequest } from './ledger.js';
import { checkUnresolvedEffect } from './ledger-request.js';
import { resolutionText } from './resolution.js';
import { writeAction } from './redis-action.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun } from './redis-ledger-keys.js';
import { deliveryOf } from './redis-run-record.js';
import type { RunState } from './run-state.js';
import type { UnresolvedEffect } from './run.js';

/** How an effect is recorded after the answer. */
const RECORDED_AS = { done: 'done', 'not-done': 'failed', 'give-up': 'give-up' } as const;

export async function resolveInRedis(
  access: RedisLedgerAccess,
  runId: string,
  request: ResolveRequest,
): Promise<ResolveReply> {
  checkUnresolvedEffect(request.question);
  const { cron, open, watch, uncertain, actions, failed, notifications, ...keys } = keysOfRun(access.keys, runId);
  const { answer, by, reason, nonce, question } = request;
  const { attempt, effect, item, since } = question;
  const { sweepMs, keepMs } = access.timing;
  const text = answer.verdict === 'done' ? answer.result : resolutionText(request);
  const action = writeAction({ action: 'resolve', by, reason, runId });
  const reply = await access.call(
    'resolve-run',
    [
      ...[keys.run(runId), open, watch, uncertain, keys.effects(runId), keys.items(runId), actions],
      ...[failed, notifications, cron],
    ],
    [
      ...[runId, nonce, RECORDED_AS[answer.verdict], text, sweepMs, keepMs, action],
      ...[attempt, effect, item === null ? '' : 1, item ?? '', since],
    ],
  );
  return resolveReply(reply, runId);
}

/** What `resolve-run` answered. */
function resolveReply(reply: readonly string[], runId: string): ResolveReply {
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
        question: JSON.parse(reply[2] ?? '') as UnresolvedEffect,
      };
    case 'MISSING':
      return { verdict: 'missing' };
    default:
      throw new Error(`Expected a reply of resolve-run, got ${JSON.stringify(reply)}.`);
  }
}
