import { formatFence, NO_FENCE, parseFence } from '@fencepost/lease';
import { DEFAULT_CANCEL_GRACE_MS } from '../base/run.js';
import type { ClaimReply, ClaimRequest, CronRecord } from '../base/ledger.js';
import type { OverdueRun, OverdueRuns } from '../base/accepting.js';
import type { Run } from '../base/run.js';
import { DEFAULT_MAX_CONCURRENCY } from '../base/ledger-request.js';
import {
  blockedReason,
  decodePause,
  deliveryOf,
  encodeOptions,
  encodeRest,
  REASON_LETTERS,
} from './redis-run-codec.js';

/** Adds one row to the ARGV of `claim-occurrences`, in the order its header gives: a tick makes one of each due cron. */
export function encodeClaim(request: ClaimRequest, args: (string | number)[]): void {
  const { occurrence, skips } = request;
  const end = skips.at(-1)?.through ?? 0;
  const scheduledAt = occurrence?.scheduledAt ?? end;
  const options = encodeOptions(request);
  const { overlap, maxConcurrency = DEFAULT_MAX_CONCURRENCY, cancelGraceMs = DEFAULT_CANCEL_GRACE_MS } = request;
  const from = `${request.generation} ${request.cursor ?? ''} ${skips[0]?.after ?? scheduledAt - 1}`;
  const due = occurrence?.dueAt ?? end + (request.spreadMs ?? 0);
  const instant = `${scheduledAt} ${due} ${occurrence ? REASON_LETTERS[occurrence.reason] : ''}`;
  const policy = `${overlap} ${maxConcurrency} ${cancelGraceMs} ${2 * skips.length} ${options.length}`;
  const plan = `${from} ${instant} ${policy} ${encodeRest(request, scheduledAt, occurrence?.missed ?? null)}`;
  args.push(formatFence(request.fence), request.term, request.holder, request.nonce, plan);
  for (const { after, through, reason } of skips) args.push(through, `${after},${through},${reason}`);
  args.push(...options);
}

/**
 * What `claim-occurrences.lua` answers of one claim.
 * @throws {Error} for a broken record of its cron
 */
export function decodeClaim(reply: readonly string[], runId: string): ClaimReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CLAIMED':
      return detail === 'behind' ? { verdict: 'claimed', runId, behind: true } : { verdict: 'claimed', runId };
    case 'SKIPPED':
      return { verdict: 'skipped', reason: detail === 'paused' ? 'paused' : blockedReason(detail) };
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
    case 'BROKEN':
      throw new Error(`Expected a sound record of the cron, got ${detail}`);
    default:
      throw new Error(`Expected a reply of claim-occurrences, got ${JSON.stringify(reply)}.`);
  }
}

/** One row of the reply of `read-crons.lua`. */
export type CronRow = readonly (string | null)[];

export function decodeCron([fence, cursor, generation, refusals, ...rest]: CronRow): CronRecord {
  const [dropped, lastAt] = rest.slice(4);
  return {
    fence: fence ? parseFence(fence) : NO_FENCE,
    cursor: cursor ? Number(cursor) : null,
    generation: Number(generation ?? 0),
    refusals: Number(refusals ?? 0),
    paused: decodePause(rest),
    droppedNotifications: dropped ? { count: Number(dropped), lastAt: Number(lastAt) } : null,
  };
}

/** One row of the reply of `list-overdue.lua`: three counts and the run ids, or the error of a cron that cannot be read. */
export type OverdueRow =
  readonly [watched: number, surplus: number, notifications: number, ...runIds: string[]] | string;

/** @throws {Error} for a cron that the script could not read */
export function decodeOverdue(
  row: OverdueRow,
  cron: string,
): Omit<OverdueRuns, 'runs'> & { readonly runIds: readonly string[] } {
  if (typeof row === 'string') throw new Error(`Expected the runs of ${cron}, got ${row}.`);
  const [watched, surplus, notifications, ...runIds] = row;
  return { watched, surplus: surplus === 1, notifications, runIds };
}

export function overdueRun({ id, delivery, priority, state }: Run): OverdueRun {
  return { ...deliveryOf(id, delivery, priority), state };
}
