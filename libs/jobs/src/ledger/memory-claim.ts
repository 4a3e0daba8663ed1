import type { ClaimedOccurrence, ClaimReply, ClaimRequest } from './ledger.js';
import type { LedgerTiming } from './ledger-timing.js';
import { BLOCKS_ALWAYS, blocks, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { occurrenceId } from '../schedule/occurrence.js';
import type { Run } from './run.js';

interface Now {
  readonly now: number;
  readonly timing: LedgerTiming;
}

/** `claim-occurrence.lua`, line for line: everything is checked before anything is written. */
export function claimInMemory(cron: MemoryCron, request: ClaimRequest, at: Now): ClaimReply {
  const answer = sameDecision(cron, request) ?? refuse(cron, request, at);
  if (answer) return answer;

  const { occurrence, skips } = request;
  const overlaps = request.overlap === 'skip' && [...cron.runs.values()].some((run) => blocks(run, at.now));
  const { fence, term, generation } = request;
  Object.assign(cron, { fence, term, generation, cursor: endOf(request) });
  cron.skips.push(...structuredClone(skips));
  if (!occurrence) {
    cron.recordNonce = request.nonce;
    return { verdict: 'recorded' };
  }
  const run = newRun(request, newRecord(request, occurrence, at.now));
  cron.runs.set(run.record.id, run);
  if (overlaps) {
    Object.assign(run.record, { state: 'skipped', skipped: 'overlap', delivery: 0, finishedAt: at.now });
    return { verdict: 'skipped', reason: 'overlap' };
  }
  run.lookAt = at.now + at.timing.recoverMs;
  return { verdict: 'claimed', runId: run.record.id };
}

function sameDecision(cron: MemoryCron, request: ClaimRequest): ClaimReply | null {
  if (!request.occurrence) return cron.recordNonce === request.nonce ? { verdict: 'recorded' } : null;
  const runId = occurrenceId({ cron: request.cron, scheduledAt: request.occurrence.scheduledAt });
  const run = cron.runs.get(runId);
  if (run?.claimNonce !== request.nonce) return null;
  return run.record.skipped ? { verdict: 'skipped', reason: 'overlap' } : { verdict: 'claimed', runId };
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

function newRun(request: ClaimRequest, record: Run): MemoryRun {
  return {
    record,
    claimNonce: request.nonce,
    overlap: request.overlap,
    effects: new Map(),
    deliveryNonce: null,
    attemptNonce: null,
    finished: null,
    leaseUntil: BLOCKS_ALWAYS,
    leaseMs: 0,
    lookAt: null,
  };
}

function newRecord(request: ClaimRequest, occurrence: ClaimedOccurrence, claimedAt: number): Run {
  return {
    id: occurrenceId({ cron: request.cron, scheduledAt: occurrence.scheduledAt }),
    cron: request.cron,
    ...structuredClone(occurrence),
    state: 'claimed',
    skipped: null,
    generation: request.generation,
    claimFence: request.fence,
    claimedBy: request.holder,
    claimedAt,
    enqueuedAt: null,
    delivery: 1,
    attempt: 0,
    fence: null,
    worker: null,
    startedAt: null,
    attemptedAt: null,
    notBefore: null,
    finishedAt: null,
    error: null,
  };
}
