import { formatFence, NO_FENCE, parseFence } from '@fencepost/lease';
import type { ClaimReply, ClaimRequest } from './ledger.js';
import type { LedgerTiming } from './ledger-timing.js';
import { writeMissed } from './redis-run-record.js';

/** The ARGV of `claim-occurrence`, in the order its header gives. */
export function claimArguments(request: ClaimRequest, runId: string, timing: LedgerTiming): (string | number)[] {
  const { occurrence, skips } = request;
  const end = skips.at(-1)?.through ?? 0;
  return [
    formatFence(request.fence),
    request.term,
    request.holder,
    request.generation,
    request.nonce,
    request.cursor ?? '',
    request.overlap,
    runId,
    occurrence?.scheduledAt ?? end,
    occurrence?.dueAt ?? end + (request.spreadMs ?? 0),
    occurrence?.reason ?? '',
    writeMissed(occurrence?.missed ?? null),
    timing.toleranceMs,
    timing.recoverMs,
    timing.keepMs,
    skips.length,
    ...skips.flatMap((range) => [range.after, range.through, range.reason]),
  ];
}

export function claimReply(reply: readonly string[], runId: string): ClaimReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CLAIMED':
      return { verdict: 'claimed', runId };
    case 'SKIPPED':
      return { verdict: 'skipped', reason: 'overlap' };
    case 'RECORDED':
      return { verdict: 'recorded' };
    case 'STALE':
      return { verdict: 'stale', fence: detail ? parseFence(detail) : NO_FENCE };
    case 'STALE_DEFINITION':
      return { verdict: 'stale-definition', generation: Number(detail) };
    case 'EARLY':
      return { verdict: 'early', waitMs: Number(detail) };
    case 'MOVED':
      return { verdict: 'moved', cursor: detail ? Number(detail) : null };
    default:
      throw new Error(`Expected a reply of claim-occurrence, got ${JSON.stringify(reply)}.`);
  }
}
