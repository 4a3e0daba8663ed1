import type { Client as PgClient, ClientConfig } from 'pg';
import { SetupError, type Clock } from '@fencepost/lease';
import { commandTimeoutMs } from '@fencepost/lease/internal/options';
import type { SqlPool } from '@fencepost/lease/postgres';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { DeadlinePool } from './postgres-deadline-pool.js';
import { PoolShare } from './postgres-pool-share.js';
import type { JobsSettings, OwnedPool } from './options.js';

/** The pools of a ledger in PostgreSQL, and how to give them back. */
export interface Database {
  readonly pool: SqlPool;
  /** For handlers, each of which may keep a connection for as long as it works. */
  readonly transactions: SqlPool;
  /** For what people ask about, so that nothing else waits behind it; a share of the caller's where it is the caller's. */
  readonly reads: SqlPool;
  /** For leases that are kept there: what renews in time must not wait for long. That of the caller where it is the caller's. */
  readonly leases: SqlPool;
  /** The process ends: from now on what gets no answer within a second is cut off. A caller's pool is left alone. */
  readonly enforceDeadline: () => void;
  readonly close: () => Promise<void>;
}

/** Many times what a statement takes, and below the shortest run lease that makes sense over a network. */
const QUERY_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A host that vanishes closes nothing, and what its handlers have locked would stay locked for the two hours after which a
 * server asks by default. Asked like this it knows after some 20 seconds; a handler that only thinks is left alone.
 */
const ASK_WHETHER_ALIVE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 3; set tcp_keepalives_count = 3';

/** Statements of one turn share one: more would only wait for each other's crons. */
const CONNECTIONS = 10;
const READING = {
  max: 2,
  query_timeout: QUERY_TIMEOUT_MS,
  // A statement that has timed out here must not go on in the server.
  statement_timeout: QUERY_TIMEOUT_MS,
  application_name: 'fencepost-reads',
};

const LEASES = { max: 3, application_name: 'fencepost-leases' };

type PoolSettings = Pick<JobsSettings, 'concurrency' | 'leaseTtlMs'> & {
  readonly postgres: NonNullable<JobsSettings['postgres']>;
};

/**
 * The caller's pool, or two of our own: as many connections for transactions as there may be handlers, opened when they are
 * needed, and some beside them that no handler can use up.
 * @throws {SetupError} when the package `pg` is not there
 */
export async function openPools(
  { postgres, concurrency, leaseTtlMs }: PoolSettings,
  telemetry: Telemetry,
  clock: Clock,
): Promise<Database> {
  if (postgres.pool) return openGiven(postgres.pool);
  const { Pool, Client } = await pg();
  const { password, ssl } = postgres;
  const common = {
    connectionString: postgres.url,
    ...(password ? { Client: askingFor(Client, password) } : {}),
    ...(ssl ? { ssl } : {}),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  const pool = new Pool({
    ...common,
    max: CONNECTIONS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'fencepost',
  });
  // Without a limit for a query: how long a handler's statement takes is the handler's affair.
  const transactions = new Pool({ ...common, max: concurrency, application_name: 'fencepost-transactions' });
  const reads = new Pool({ ...common, ...READING });
  const leases = new Pool({ ...common, ...LEASES, query_timeout: commandTimeoutMs(leaseTtlMs) });
  // A connection that breaks while nobody uses it: without a listener it would end the process.
  const onError = (error: Error) => reportStoreFailure(telemetry, { operation: 'database.connect' }, error);
  const all = [pool, transactions, reads, leases];
  for (const one of all) {
    one.on('error', onError);
    // For good: one whose end is read together with its last answer has been given to the next who asked by then, and that
    // one has not heard of it yet. The query of its next user fails then.
    one.on('connect', (client) => client.on('error', ignore));
  }
  // What is sent first is first: nobody gets the connection before. A server that doesn't know these settings works without.
  transactions.on('connect', (client) => void client.query(ASK_WHETHER_ALIVE).catch(() => {}));
  return { pool, transactions, reads, leases, ...endingOf(all.map((one) => new DeadlinePool(one, clock))) };
}

type GivenPool = NonNullable<NonNullable<JobsSettings['postgres']>['pool']>;

async function openGiven(given: GivenPool): Promise<Database> {
  const pool: unknown = typeof given === 'function' ? await given() : given;
  if (typeof pool !== 'object' || pool === null || !('query' in pool && 'connect' in pool)) {
    throw new SetupError('Expected the function in the option "postgres.pool" to return a pool from the package pg.');
  }
  const same = pool as OwnedPool;
  let closing: Promise<void> | undefined;
  // An instance is its owner's to close.
  const close = async () => (typeof given === 'function' ? (closing ??= same.end()) : undefined);
  const reads = new PoolShare(same, shareOf(same));
  return { pool: same, transactions: same, reads, leases: same, enforceDeadline: () => {}, close };
}

/** As many connections as questions have of a pool of our own; of a small pool at most half. */
function shareOf(pool: object): number {
  const { max }: { readonly max?: unknown } = Reflect.get(pool, 'options') ?? {};
  return Math.max(1, Math.min(READING.max, Math.floor((Number(max) || CONNECTIONS) / 2)));
}

/** `pg` calls a function for the password, and lets that of an address go before, also where the address has none. */
function askingFor(Client: typeof PgClient, password: () => string | Promise<string>) {
  return class extends Client {
    constructor(config?: ClientConfig) {
      super(config);
      Reflect.set(this, 'password', password);
    }
  };
}

function endingOf(pools: readonly DeadlinePool[]): Pick<Database, 'enforceDeadline' | 'close'> {
  let closing: Promise<unknown> | undefined;
  return {
    enforceDeadline: () => pools.forEach((pool) => pool.enforceDeadline()),
    // An application may be closed twice, and a pool may not.
    close: async () => void (await (closing ??= Promise.all(pools.map((pool) => pool.end())))),
  };
}

function ignore(): void {}

async function pg() {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new SetupError('Ledger "postgres" needs the package "pg", which is not installed. Run npm install pg.', {
      cause,
    });
  }
}
