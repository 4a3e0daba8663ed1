import { DEFAULT_POOL, type WorkerCapabilities } from '../queue/routing.js';
import { takesManyQueues } from '../queue/worker-backend.js';
import { CronDeclarationError } from './cron-declaration.js';
import type { FoundCron } from './cron-explorer.js';
import type { JobsSettings } from './options.js';

/** @throws {CronDeclarationError} for the first handler with transactions, where the ledger has none */
export function checkTransactions(crons: Iterable<FoundCron>, { ledger }: Pick<JobsSettings, 'ledger'>): void {
  if (ledger === 'postgres') return;
  for (const { where, transactions } of crons) {
    if (!transactions) continue;
    throw new CronDeclarationError(
      where,
      `option "transactions": expected ledger: "postgres" in JobsModule beside it, got ${JSON.stringify(ledger)}. ` +
        `Keep the ledger in the database of your rows, or use run.effect and its idempotency key instead.`,
    );
  }
}

/** The handlers to which a duplicate is damage. */
export function criticalOf(crons: ReadonlyMap<string, FoundCron>): string[] {
  return [...crons].flatMap(([name, { criticality }]) => (criticality === 'correctness' ? [name] : []));
}

type Pools = Pick<JobsSettings, 'pools'>;

export function isInPools({ pool = DEFAULT_POOL }: FoundCron, { pools }: Pools): boolean {
  return pools.includes(pool);
}

/** What routing goes by. With BullMQ 5 a worker takes from one queue, as in former releases. */
export function capabilitiesOf(
  crons: ReadonlyMap<string, FoundCron>,
  settings: Pools & Pick<JobsSettings, 'app'>,
): WorkerCapabilities {
  const { app, pools } = settings;
  const own = [...crons].filter(([, cron]) => isInPools(cron, settings));
  const handlers = own.map(([name]) => name);
  if (!takesManyQueues) return { app, handlers };
  const pooled: Record<string, string> = {};
  for (const [name, { pool = DEFAULT_POOL }] of own) if (pool !== DEFAULT_POOL) pooled[name] = pool;
  return { app, handlers, pools, ...(Object.keys(pooled).length > 0 && { pooled }) };
}
