import type { ClaimReply, ClaimRequest } from './ledger.js';
import type { LedgerTiming } from './ledger-timing.js';
import { pauseInForce, type MemoryCron } from './memory-ledger-record.js';
import { freeCapacity, overlapOf } from './memory-capacity.js';
import { acceptRun, newRun } from './memory-run.js';
import { occurrenceId } from './occurrence.js';

interface Now {
  readonly now: number;
  readonly timing: LedgerTiming;
}

/** `claim-occurrences.lua` for one claim, line for line: everything is checked before anything is written. */
export function claimInMemory(cron: MemoryCron, request: ClaimRequest, at: Now): ClaimReply {
  const answer = sameDecision(cron, request) ?? refuse(cron, request, at);
  if (answer) return answer;

  const { occurrence, skips, fence, term, generation, nonce } = request;
  const paused = occurrence !== null && pauseInForce(cron, at.now) !== null;
  const { skipped, surplus } = overlapOf(cron, request, at.now);
  cron.began ??= beginningOf(request);
  const { cursor: before } = cron;
  Object.assign(cron, { fence, term, generation, cursor: endOf(request) });
  cron.skips.push(...skips.map((skip) => ({ ...skip })));
  if (!occurrence || paused) {
    if (occurrence) recordPause(cron, skips.at(-1)?.through ?? null, { before, through: occurrence.scheduledAt });
    cron.recorded = { nonce, paused };
    return paused ? { verdict: 'skipped', reason: 'paused' } : { verdict: 'recorded' };
  }
  const id = occurrenceId({ cron: request.cron, scheduledAt: occurrence.scheduledAt });
  const { cron: name, holder: claimedBy } = request;
  const missed = occurrence.missed && { ...occurrence.missed };
  const facts = { id, cron: name, ...occurrence, missed, generation, claimFence: fence, claimedBy };
  const run = newRun({ ...facts, claimedAt: at.now, by: null }, request);
  if (!skipped) freeCapacity(cron, { id, policy: request, surplus, now: at.now });
  const reply = acceptRun(cron, run, { ...at, skipped });
  return reply.verdict === 'claimed' && surplus > 0 ? { ...reply, behind: true } : reply;
}

function sameDecision(cron: MemoryCron, { cron: name, nonce, occurrence }: ClaimRequest): ClaimReply | null {
  if (cron.recorded?.nonce === nonce) {
    return cron.recorded.paused ? { verdict: 'skipped', reason: 'paused' } : { verdict: 'recorded' };
  }
  if (!occurrence) return null;
  const runId = occurrenceId({ cron: name, scheduledAt: occurrence.scheduledAt });
  const run = cron.runs.get(runId);
  if (run?.claimNonce !== nonce) return null;
  // Superseded it may be by now, and so may be expired: claimed it was.
  return run.record.skipped === 'overlap' ? { verdict: 'skipped', reason: 'overlap' } : { verdict: 'claimed', runId };
}

function refuse(cron: MemoryCron, request: ClaimRequest, { now, timing }: Now): ClaimReply | null {
  if (request.fence < cron.fence || (request.fence === cron.fence && request.term !== cron.term)) {
    cron.refusals += 1;
    return { verdict: 'stale', fence: cron.fence };
  }
  if (request.generation < cron.generation) return { verdict: 'stale-definition', generation: cron.generation };
  if (cron.cursor !== request.cursor || (cron.cursor !== null && endOf(request) <= cron.cursor)) {
    return { verdict: 'moved', cursor: cron.cursor };
  }
  const waitMs = (request.occurrence?.dueAt ?? endOf(request) + (request.spreadMs ?? 0)) - now;
  return waitMs > timing.toleranceMs ? { verdict: 'early', waitMs } : null;
}

/** Where the cursor stands after the claim. */
function endOf({ occurrence, skips }: ClaimRequest): number {
  return occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
}

function beginningOf(request: ClaimRequest): number {
  return request.skips[0]?.after ?? endOf(request) - 1;
}

interface Paused {
  readonly before: number | null;
  readonly through: number;
}

/** One range for the whole of a pause, however many instants it takes. */
function recordPause({ skips }: MemoryCron, planned: number | null, { before, through }: Paused): void {
  const last = planned === null ? skips.at(-1) : undefined;
  const goesOn = last?.reason === 'paused' && last.through === before;
  if (goesOn) skips.pop();
  const after = goesOn ? last.after : (planned ?? before ?? through - 1);
  skips.push({ after, through, reason: 'paused' });
}
