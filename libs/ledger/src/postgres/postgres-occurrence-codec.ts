import { formatFence, parseFence } from '@fencepost/lease';
import { DEFAULT_CANCEL_GRACE_MS } from '../base/run.js';
import type { ClaimReply, ClaimRequest, CronRecord } from '../base/ledger.js';
import { checkClaim, DEFAULT_MAX_CONCURRENCY } from '../base/ledger-request.js';
import { occurrenceId } from '../base/occurrence.js';
import type { OverdueRun, OverdueRuns } from '../base/accepting.js';
import { decodeDelivery, type DeliveryRow } from './postgres-run-codec.js';

/**
 * A claim as the header of `claim_occurrences` has it.
 * @throws {RangeError} for a claim that is none, so that it never gets among others
 */
export function encodeClaim(request: ClaimRequest): object {
  checkClaim(request);
  const { cron, term, holder, generation, nonce, cursor, skips, occurrence, overlap } = request;
  const end = skips.at(-1)?.through ?? 0;
  const instant = occurrence?.scheduledAt ?? end;
  return {
    ...{ cron, fence: formatFence(request.fence), term, holder, generation, nonce, cursor, skips, overlap, instant },
    began: skips[0]?.after ?? instant - 1,
    most: request.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    grace: request.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    runId: occurrence ? occurrenceId({ cron, scheduledAt: instant }) : null,
    dueAt: occurrence?.dueAt ?? end + (request.spreadMs ?? 0),
    reason: occurrence?.reason ?? null,
    missed: occurrence?.missed ?? null,
    startBy: request.startBy ?? null,
    handler: request.handler ?? null,
    payload: request.payload ?? null,
  };
}

/** What `claim_occurrences` answers of one claim. */
export type ClaimRow =
  Exclude<ClaimReply, { verdict: 'stale' }> | { readonly verdict: 'stale'; readonly fence: string };

export function decodeClaim(row: ClaimRow): ClaimReply {
  return row.verdict === 'stale' ? { ...row, fence: parseFence(row.fence) } : row;
}

/** What `read_crons` answers of one cron. */
export type CronRow = Omit<CronRecord, 'fence'> & { readonly fence: string };

export function decodeCron(row: CronRow): CronRecord {
  return { ...row, fence: parseFence(row.fence) };
}

export type OverdueRunRow = Omit<OverdueRun, 'priority'> & DeliveryRow;

/** What `list_overdue` answers of one cron. */
export type OverdueRow = Omit<OverdueRuns, 'runs'> & { readonly runs: readonly OverdueRunRow[] };

export function decodeOverdue(row: OverdueRow): OverdueRuns {
  return { ...row, runs: row.runs.map(decodeDelivery) };
}
