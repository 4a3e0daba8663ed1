import { DEFAULT_POOL, queuesOfWorker, type WorkerCapabilities } from '../queue/routing.js';
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

/** What a worker executes of the methods that it has found: those in its pools whose names no other app owns. */
export class Executed {
  crons: ReadonlyMap<string, FoundCron> = new Map();
  /** See `ForeignNames`. */
  foreign: ReadonlySet<string> = new Set();

  constructor(private readonly settings: Pick<JobsSettings, 'app' | 'pools'>) {}

  find(name: string): FoundCron | undefined {
    const cron = this.crons.get(name);
    return cron && !this.foreign.has(name) && this.settings.pools.includes(poolOf(cron)) ? cron : undefined;
  }

  /** What routing goes by. With BullMQ 5 a worker takes from one queue, as in former releases. */
  get capabilities(): WorkerCapabilities {
    const { app, pools } = this.settings;
    const handlers = [...this.crons.keys()].filter((name) => this.find(name));
    if (!takesManyQueues) return { app, handlers };
    const pooled: Record<string, string> = {};
    for (const name of handlers) {
      const pool = poolOf(this.crons.get(name));
      if (pool !== DEFAULT_POOL) pooled[name] = pool;
    }
    return { app, handlers, pools, ...(Object.keys(pooled).length > 0 && { pooled }) };
  }

  get queues(): string[] {
    return queuesOfWorker(this.capabilities);
  }
}

function poolOf(cron: FoundCron | undefined): string {
  return cron?.pool ?? DEFAULT_POOL;
}
