import { cronOfRun } from '../occurrence.js';
import type { Delivery } from '../ledger.js';
import { checkOverdue } from '../ledger-request.js';
import { LEDGER_BATCH } from '../ledger-timing.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from '../overdue.js';
import { isAboutRequest } from './postgres-failure.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { inBatches } from './postgres-value.js';

/** A call holds the rows of the crons in which something is due until it is done. */
const MAX_LOOKED_AT = 200;

export type DeliveryRow = Omit<Delivery, 'priority'> & { readonly priority: number | null };

type OverdueRow = Omit<OverdueRuns, 'runs'> & {
  readonly runs: readonly (Omit<OverdueRun, 'priority'> & DeliveryRow)[];
};

/** None is absent there, and `null` in JSON. */
export function readDelivery<T extends DeliveryRow>({ priority, ...rest }: T): Omit<T, 'priority'> & Delivery {
  return priority === null ? { ...rest } : { ...rest, priority };
}

export async function redeliverInPostgres(
  access: PostgresLedgerAccess,
  { runId, delivery }: Delivery,
  nonce: string,
): Promise<Delivery | null> {
  const args = [access.space, cronOfRun(runId), runId, delivery, nonce];
  const row = await access.call<DeliveryRow | null>('redeliver_run', args);
  return row && readDelivery(row);
}

export async function overdueInPostgres(
  access: PostgresLedgerAccess,
  crons: readonly string[],
  options: OverdueOptions,
): Promise<PromiseSettledResult<OverdueRuns>[]> {
  checkOverdue(options);
  const batches = inBatches(crons, MAX_LOOKED_AT).map((batch) => overdueEach(access, batch, options));
  return (await Promise.all(batches)).flat();
}

/** What the server answered itself may be about one of the crons: the others are looked at alone then. */
async function overdueEach(
  access: PostgresLedgerAccess,
  crons: readonly string[],
  options: OverdueOptions,
): Promise<PromiseSettledResult<OverdueRuns>[]> {
  try {
    const found = await overdueBatch(access, crons, options);
    return found.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (crons.length === 1 || !isAboutRequest(reason)) return crons.map(() => ({ status: 'rejected', reason }));
    const each = await Promise.all(crons.map((cron) => overdueEach(access, [cron], options)));
    return each.flat();
  }
}

async function overdueBatch(
  access: PostgresLedgerAccess,
  crons: readonly string[],
  { againMs, keep }: OverdueOptions,
): Promise<OverdueRuns[]> {
  const args = [access.space, crons, againMs, keep, access.timing.keepMs, LEDGER_BATCH];
  const rows = await access.call<OverdueRow[]>('list_overdue', args);
  return rows.map((row) => ({ ...row, runs: row.runs.map(readDelivery) }));
}
