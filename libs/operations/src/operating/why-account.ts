import type { Account, RunHistory } from '@fencepost/ledger';
import type { Run, SkipReason } from '@fencepost/ledger/run';
import type { ValidityInterval } from '../audit/validity-intervals.js';
import { instantAfter, instantBefore } from './why-context.js';

/** So many instants on either side are looked at, and no further than this. */
const NEIGHBOURS = 20;
const FURTHEST_MS = 8 * 86_400_000;
const FIRST_PART_MS = 15 * 60_000;
const MAX_RUNS = 1_000;

export interface Around {
  readonly cron: string;
  readonly at: number;
  readonly intervals: readonly ValidityInterval[];
}

/** What is recorded of an instant and of those around it; and, wherever it stands, the run that explains it. */
export async function accountAround(ledger: Pick<RunHistory, 'account'>, around: Around): Promise<Account> {
  const { cron, at, intervals } = around;
  const from = Math.max(
    0,
    reach(at, (time) => instantBefore(intervals, time)),
  );
  const to = reach(at, (time) => instantAfter(intervals, time));
  const account = await bounded(ledger, around, { from, to: to + 1 });
  const further = furtherOf(account, around, { from, to });
  if (further === null) return account;
  const { runs } =
    'met' in further
      ? await inTheWay(ledger, cron, further)
      : await ledger.account(cron, further.from, further.to, MAX_RUNS);
  const known = new Set(account.runs.map(({ id }) => id));
  return { ...account, runs: [...account.runs, ...runs.filter(({ id }) => !known.has(id))] };
}

/** Where people asked for very many runs in between, those of the instant itself. */
async function bounded(
  ledger: Pick<RunHistory, 'account'>,
  { cron, at }: Around,
  { from, to }: Span,
): Promise<Account> {
  const account = await ledger.account(cron, from, to, MAX_RUNS);
  if (account.more === undefined || account.more > at) return account;
  return ledger.account(cron, at, at + 1);
}

/** The run that was in the way, searched for backwards, in parts that become longer: a dense cron may have very many. */
async function inTheWay(
  ledger: Pick<RunHistory, 'account'>,
  cron: string,
  { from, to, met }: Span & { readonly met: Run },
) {
  const runs: Run[] = [];
  for (let [end, width] = [to, FIRST_PART_MS]; end > from && runs.length < MAX_RUNS; width *= 4) {
    const start = Math.max(from, end - width);
    const part = await ledger.account(cron, start, end, MAX_RUNS);
    runs.push(...part.runs);
    if (part.runs.some(isInTheWayOf(met))) break;
    end = start;
  }
  return { runs };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where else the answer may stand: a dense cron has more instants in between than are looked at. */
function furtherOf(
  { runs, skips }: Account,
  { at, intervals }: Around,
  { from, to }: Span,
): Span | (Span & { readonly met: Run }) | null {
  const merged = skips.find(({ after, through, reason }) => reason === 'merged' && after < at && at <= through);
  if (merged && merged.through >= to)
    return { from: merged.through, to: (instantAfter(intervals, merged.through) ?? to) + 1 };
  const met = runs.find(({ scheduledAt, skipped }) => scheduledAt === at && isBlocked(skipped));
  if (met && !runs.some(isInTheWayOf(met))) return { from: Math.max(0, at - FURTHEST_MS), to: from, met };
  return null;
}

/** Others were in its way: the answer is told with them. */
function isBlocked(skipped: SkipReason | null): boolean {
  return skipped === 'overlap' || skipped === 'no-capable-worker';
}

function isInTheWayOf(met: Run): (run: Run) => boolean {
  return ({ claimedAt, finishedAt, state }) =>
    state !== 'skipped' && claimedAt <= met.claimedAt && (finishedAt === null || finishedAt > met.claimedAt);
}

/** How far some steps lead from a time. */
function reach(at: number, next: (time: number) => number | null): number {
  let reached = at;
  for (let n = 0; n < NEIGHBOURS; n += 1) {
    const found = next(reached);
    if (found === null || Math.abs(found - at) > FURTHEST_MS) return reached;
    reached = found;
  }
  return reached;
}
