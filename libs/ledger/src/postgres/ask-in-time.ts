import { borrowConnection, giveBack } from './borrow-connection.js';
import { askAgain } from './postgres-failure.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';

/** How long a worker waits for a connection, in milliseconds: well below the length of a run lease. */
export const PATIENCE_MS = 10_000;

export interface PatientAccess {
  readonly access: PostgresLedgerAccess;
  readonly patienceMs?: number;
}

/**
 * Calls a function of the ledger on a connection that the pool gives in time. What waits longer is never sent: an attempt
 * that begins after its worker has stopped to wait for it is one that nobody carries out.
 * @throws {PoolExhaustedError}, and what the client throws
 */
export async function askInTime<T>(
  { access, patienceMs = PATIENCE_MS }: PatientAccess,
  name: string,
  args: readonly unknown[],
): Promise<T> {
  await access.ready(name);
  const connection = await borrowConnection(access.pool, { clock: access.clock, patienceMs });
  let sound = false;
  try {
    const reply = await askAgain(() => access.callOn<T>(connection, name, args));
    sound = true;
    return reply;
  } finally {
    giveBack(connection, sound);
  }
}
