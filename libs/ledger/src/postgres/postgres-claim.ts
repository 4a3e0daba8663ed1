import { formatFence, parseFence } from '@fencepost/lease';
import { DEFAULT_CANCEL_GRACE_MS } from '../catalog/definition.js';
import { cronOfRun, occurrenceId } from '../occurrence.js';
import type { ClaimReply, ClaimRequest } from '../ledger.js';
import { checkClaim, DEFAULT_MAX_CONCURRENCY } from '../ledger-request.js';
import { isAboutRequest } from './postgres-failure.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { inBatches, sqlJson } from './postgres-value.js';

/** A call holds the rows of all its crons until it is done: so many of these take some ten milliseconds. */
const MAX_CLAIMS = 200;
const MAX_CONFIRMED = 500;

export async function claimInPostgres(access: PostgresLedgerAccess, request: ClaimRequest): Promise<ClaimReply> {
  const [reply] = await claimBatch(access, [prepare(request)]);
  return reply as ClaimReply;
}

/** A claim that is none is rejected alone, and so is one that the server refuses; a call that failed rejects what was in it. */
export async function claimAllInPostgres(
  access: PostgresLedgerAccess,
  requests: readonly ClaimRequest[],
): Promise<PromiseSettledResult<ClaimReply>[]> {
  const prepared = await Promise.allSettled(requests.map(async (request) => prepare(request)));
  const sound = prepared.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const batches = await Promise.all(inBatches(sound, MAX_CLAIMS).map((batch) => claimEach(access, batch)));
  const replies = new Map(batches.flat().map((reply, n) => [sound[n], reply]));
  return prepared.map((one) =>
    one.status === 'rejected' ? one : (replies.get(one.value) as PromiseSettledResult<ClaimReply>),
  );
}

/** What the server answered itself is about one of the claims: each is asked for alone then, which is safe by its nonce. */
async function claimEach(
  access: PostgresLedgerAccess,
  claims: readonly object[],
): Promise<PromiseSettledResult<ClaimReply>[]> {
  try {
    const replies = await claimBatch(access, claims);
    return replies.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (claims.length === 1 || !isAboutRequest(reason)) return claims.map(() => ({ status: 'rejected', reason }));
    const each = await Promise.all(claims.map((claim) => claimEach(access, [claim])));
    return each.flat();
  }
}

type Row = Exclude<ClaimReply, { verdict: 'stale' }> | { readonly verdict: 'stale'; readonly fence: string };

async function claimBatch(access: PostgresLedgerAccess, claims: readonly object[]): Promise<ClaimReply[]> {
  const { toleranceMs, recoverMs } = access.timing;
  const rows = await access.call<Row[]>('claim_occurrences', [access.space, toleranceMs, recoverMs, sqlJson(claims)]);
  return rows.map((row) => (row.verdict === 'stale' ? { ...row, fence: parseFence(row.fence) } : row));
}

/**
 * A claim as the header of `claim_occurrences` has it.
 * @throws {RangeError} for a claim that is none, so that it never gets among others
 */
function prepare(request: ClaimRequest): object {
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

export async function confirmInPostgres(access: PostgresLedgerAccess, runIds: readonly string[]): Promise<void> {
  const { space, timing } = access;
  await Promise.all(
    inBatches(runIds, MAX_CONFIRMED).map((batch) => {
      const crons = [...new Set(batch.map(cronOfRun))];
      return access.call('confirm_runs', [space, crons, batch, timing.sweepMs]);
    }),
  );
}
