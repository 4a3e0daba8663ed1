import { formatFence, NO_FENCE, parseFence } from '@fencepost/lease';
import { DEFAULT_CANCEL_GRACE_MS } from './catalog/definition.js';
import type { ClaimReply, ClaimRequest } from './ledger.js';
import { checkClaim, DEFAULT_MAX_CONCURRENCY } from './ledger-request.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun } from './redis-ledger-keys.js';
import { writeOptions } from './redis-run-record.js';
import { occurrenceId } from './occurrence.js';

/** A script holds up everybody else's commands while it runs: so many of these take some milliseconds. */
const MAX_CLAIMS = 200;
const MAX_CONFIRMED = 500;

export async function claimInRedis(access: RedisLedgerAccess, request: ClaimRequest): Promise<ClaimReply> {
  const [reply] = await claimBatch(access, [prepare(access, request)]);
  return reply as ClaimReply;
}

/** A claim that is none is rejected alone, and a call that failed rejects only what was in it. */
export async function claimAllInRedis(
  access: RedisLedgerAccess,
  requests: readonly ClaimRequest[],
): Promise<PromiseSettledResult<ClaimReply>[]> {
  const outcomes: PromiseSettledResult<ClaimReply>[] = [];
  const sound: { readonly index: number; readonly prepared: Prepared }[] = [];
  requests.forEach((request, index) => {
    try {
      sound.push({ index, prepared: prepare(access, request) });
    } catch (reason) {
      outcomes[index] = { status: 'rejected', reason };
    }
  });
  const asking = access.inBatches(sound, MAX_CLAIMS).map(async (batch) => {
    const settled = await settle(
      access,
      batch.map(({ prepared }) => prepared),
    );
    batch.forEach(({ index }, n) => (outcomes[index] = settled[n] as PromiseSettledResult<ClaimReply>));
  });
  await Promise.all(asking);
  return outcomes;
}

async function settle(
  access: RedisLedgerAccess,
  claims: readonly Prepared[],
): Promise<PromiseSettledResult<ClaimReply>[]> {
  try {
    return (await claimBatch(access, claims)).map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    return claims.map(() => ({ status: 'rejected', reason }));
  }
}

interface Prepared {
  readonly runId: string;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** @throws {RangeError} for a claim that is none, so that it never gets among others */
function prepare(access: RedisLedgerAccess, request: ClaimRequest): Prepared {
  checkClaim(request);
  const { cron, occurrence } = request;
  const runId = occurrence ? occurrenceId({ cron, scheduledAt: occurrence.scheduledAt }) : '';
  const of = access.keys(cron);
  const keys = [of.cron, of.run(runId)];
  if (access.redis.isCluster) keys.push(of.runs, of.open, of.watch, of.pending, of.skips);
  return { runId, keys, args: claimArguments(request) };
}

async function claimBatch(access: RedisLedgerAccess, claims: readonly Prepared[]): Promise<ClaimReply[]> {
  const { toleranceMs, recoverMs, keepMs } = access.timing;
  const replies = (await access.ask(
    'claim-occurrences',
    claims.flatMap(({ keys }) => keys),
    [toleranceMs, recoverMs, keepMs, ...claims.flatMap(({ args }) => args)],
  )) as string[][];
  return claims.map(({ runId }, n) => claimReply(replies[n] ?? [], runId));
}

/** One row of the ARGV of `claim-occurrences`, in the order its header gives. */
function claimArguments(request: ClaimRequest): (string | number)[] {
  const { occurrence, skips } = request;
  const end = skips.at(-1)?.through ?? 0;
  const scheduledAt = occurrence?.scheduledAt ?? end;
  const options = writeOptions({ ...request, missed: occurrence?.missed ?? null });
  const plan = [
    request.generation,
    request.cursor ?? '',
    skips[0]?.after ?? scheduledAt - 1,
    scheduledAt,
    occurrence?.dueAt ?? end + (request.spreadMs ?? 0),
    occurrence?.reason ?? '',
    request.overlap,
    request.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    request.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    2 * skips.length,
    options.length,
  ].join(' ');
  const ranges = skips.flatMap(({ after, through, reason }) => [through, [after, through, reason].join(',')]);
  return [formatFence(request.fence), request.term, request.holder, request.nonce, plan, ...ranges, ...options];
}

export async function confirmInRedis(access: RedisLedgerAccess, runIds: readonly string[]): Promise<void> {
  await Promise.all(
    access.inBatches(runIds, MAX_CONFIRMED).map((batch) => {
      const keys = batch.flatMap((runId) => {
        const keysOf = keysOfRun(access.keys, runId);
        return [keysOf.run(runId), keysOf.pending, keysOf.watch];
      });
      return access.ask('confirm-runs', keys, [access.timing.sweepMs, ...batch]);
    }),
  );
}

export function claimReply(reply: readonly string[], runId: string): ClaimReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CLAIMED':
      return detail === 'behind' ? { verdict: 'claimed', runId, behind: true } : { verdict: 'claimed', runId };
    case 'SKIPPED':
      return { verdict: 'skipped', reason: detail === 'paused' ? 'paused' : 'overlap' };
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
      throw new Error(`Expected a reply of claim-occurrences, got ${JSON.stringify(reply)}.`);
  }
}
