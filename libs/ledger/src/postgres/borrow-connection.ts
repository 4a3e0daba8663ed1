import { StoreAwayError, type Clock } from '@fencepost/lease';
import type { SqlConnection, SqlPool } from '@fencepost/lease/postgres';

/** Every connection of a pool was in use, or none could be opened, for as long as the ledger was willing to wait. */
export class PoolExhaustedError extends StoreAwayError {
  readonly code = 'POOL_EXHAUSTED';

  constructor(waitedMs: number, options?: ErrorOptions) {
    super(
      `No PostgreSQL connection became free within ${waitedMs} ms. Nothing was sent. Either every ` +
        `connection of the pool is in use: raise its "max", or use a separate pool for transactions. Or the server ` +
        `does not answer: check it, and set "connectionTimeoutMillis" of the pool.`,
      options,
    );
  }
}

/** A connection that once worked says nothing any more: its server is frozen, or gone without a word. */
export class ConnectionSilentError extends StoreAwayError {
  readonly code = 'CONNECTION_SILENT';

  constructor(waitedMs: number) {
    super(
      `PostgreSQL did not answer within ${waitedMs} ms. The connection is closed; its open transaction ` +
        `is rolled back once the server notices. Check the server and the network.`,
    );
  }
}

export interface Patience {
  readonly clock: Clock;
  /** How long a pool or a server may take, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * Takes a connection out of a pool in time: a pool without a limit of its own keeps whoever asks waiting for ever.
 * @throws {PoolExhaustedError}, and what the pool throws
 */
export async function borrowConnection(pool: SqlPool, { clock, patienceMs }: Patience): Promise<SqlConnection> {
  const since = clock.monotonic();
  const borrowed = pool.connect();
  const connection = await inTime<SqlConnection | null>(borrowed, { clock, patienceMs }, null).catch(
    (cause: unknown) => {
      if (!isImpatience(cause)) throw cause;
      throw new PoolExhaustedError(Math.round(clock.monotonic() - since), { cause });
    },
  );
  if (connection === null) {
    // One that comes after all goes back unused: who asked has stopped to wait.
    borrowed.then(
      (unused) => unused.release(),
      () => {},
    );
    throw new PoolExhaustedError(patienceMs);
  }
  connection.on('error', ignore);
  return connection;
}

/** What `pg` throws after its `connectionTimeoutMillis`, with every connection in use; it has no code to know it by. */
function isImpatience(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/** @param sound whether nothing is open on it; else it is closed, and what was open ends with it */
export function giveBack(connection: SqlConnection, sound: boolean): void {
  // Every client of `pg` is an emitter of Node.
  const removeListener: unknown = Reflect.get(connection, 'removeListener');
  if (typeof removeListener === 'function') removeListener.call(connection, 'error', ignore);
  connection.release(!sound);
}

/** A connection that breaks while nobody waits for it would end the process; who uses it next hears of it. */
function ignore(): void {}

/** @throws {ConnectionSilentError} and what the statement throws; that of a connection to be given back as not sound */
export async function answerInTime<T>(statement: Promise<T>, patience: Patience): Promise<T> {
  const late = Symbol('late');
  const reply = await inTime<T | typeof late>(statement, patience, late);
  if (reply === late) throw new ConnectionSilentError(patience.patienceMs);
  return reply;
}

/** @param late what it is when it took longer */
function inTime<T>(promise: Promise<T>, { clock, patienceMs }: Patience, late: T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(patienceMs, () => resolve(late));
    promise.then(resolve, reject).finally(cancel);
  });
}
