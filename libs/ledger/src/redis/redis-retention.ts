import { LATE_TRIGGER_MS } from '../base/ledger-request.js';
import { FORGET_BATCH } from '../base/ledger-timing.js';
import { untilAnswered } from '../catalog/in-batches.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';

/** Crons sent to one script. */
export const MAX_FORGETTING = 200;

/** After looking at this many runs, the script leaves the remaining crons to the next: it takes two milliseconds or so. */
const ENOUGH_LOOKED_AT = 250;

type ForgetReply = number | readonly [broken: string, error: string];

/** Never rejects: a call that failed as a whole failed for each cron. */
export async function forgetBatch(
  access: RedisLedgerAccess,
  crons: readonly string[],
  keep: number,
): Promise<PromiseSettledResult<number>[]> {
  const limits = [keep, FORGET_BATCH, ENOUGH_LOOKED_AT, LATE_TRIGGER_MS];
  const ask = async (rest: readonly string[]) =>
    (await access.ask('forget-runs', keysOf(access, rest), limits)) as ForgetReply[];
  try {
    return (await untilAnswered(crons, ask)).map((reply, n) => outcomeOf(reply, crons[n]));
  } catch (reason) {
    return crons.map(() => ({ status: 'rejected', reason }));
  }
}

function keysOf(access: RedisLedgerAccess, crons: readonly string[]): string[] {
  return crons.flatMap((name) => {
    const { cron, runs, open, skips, failed, used } = access.keys(name);
    return [cron, runs, open, skips, failed, used];
  });
}

function outcomeOf(reply: ForgetReply, cron = ''): PromiseSettledResult<number> {
  if (typeof reply === 'number') return { status: 'fulfilled', value: reply };
  return { status: 'rejected', reason: new Error(`Could not forget the runs of ${cron}: ${reply[1]}`) };
}
