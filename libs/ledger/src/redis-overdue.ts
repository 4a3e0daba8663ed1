import { checkOverdue } from './ledger-request.js';
import { LEDGER_BATCH } from './ledger-timing.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from './overdue.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { deliveryOf, readRunRecord } from './redis-run-record.js';

/** A script holds up everybody else's commands while it runs: so many of these take a millisecond or two. */
const MAX_LOOKED_AT = 200;

/** How many are watched, whether something is to be forgotten, how many notifications wait, and ids; or in words why the cron could not be read. */
type Row = readonly [number, number, number, ...string[]] | string;

export async function overdueInRedis(
  access: RedisLedgerAccess,
  crons: readonly string[],
  options: OverdueOptions,
): Promise<PromiseSettledResult<OverdueRuns>[]> {
  checkOverdue(options);
  const batches = access.inBatches(crons, MAX_LOOKED_AT).map((batch) => overdueBatch(access, batch, options));
  return (await Promise.all(batches)).flat();
}

async function overdueBatch(
  access: RedisLedgerAccess,
  crons: readonly string[],
  { againMs, keep }: OverdueOptions,
): Promise<PromiseSettledResult<OverdueRuns>[]> {
  try {
    const keys = crons.flatMap((cron) => {
      const { watch, runs, skips, notifications } = access.keys(cron);
      return [watch, runs, skips, notifications];
    });
    const rows = (await access.ask('list-overdue', keys, [LEDGER_BATCH, againMs, keep])) as Row[];
    return await Promise.allSettled(crons.map((cron, n) => overdueOf(access, cron, rows[n] ?? 'no answer')));
  } catch (reason) {
    return crons.map(() => ({ status: 'rejected', reason }));
  }
}

async function overdueOf(access: RedisLedgerAccess, cron: string, row: Row): Promise<OverdueRuns> {
  if (typeof row === 'string') throw new Error(`Expected the runs of ${cron}, got ${row}.`);
  const [watched, surplus, notifications, ...ids] = row;
  return { runs: await readOverdue(access, cron, ids), watched, surplus: surplus === 1, notifications };
}

async function readOverdue(access: RedisLedgerAccess, cron: string, ids: readonly string[]): Promise<OverdueRun[]> {
  if (ids.length === 0) return [];
  const keys = access.keys(cron);
  const found = await Promise.all(ids.map((id) => access.redis.hgetall(keys.run(id))));
  const runs = found.map(readRunRecord).filter((run) => run !== null);
  return runs.map(({ id, delivery, priority, state }) => ({ ...deliveryOf(id, delivery, priority), state }));
}
