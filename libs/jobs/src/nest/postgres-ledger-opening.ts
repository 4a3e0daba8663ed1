import { FencepostError, SetupError } from '@fencepost/lease';
import { redactUrl } from '@fencepost/lease/internal/redis';
import { migrateLedger, PoolExhaustedError, PostgresLedger, sqlState } from '@fencepost/ledger/postgres';
import type { PostgresLedgerOptions } from '@fencepost/ledger/postgres';
import type { JobsSettings } from './options.js';
import type { Database } from './postgres-database.js';
import { retryOnBoot } from './retry-on-boot.js';

type Postgres = NonNullable<JobsSettings['postgres']>;

/** @throws {SetupError} saying why the database can't be used, with what to do */
export async function openPostgresLedger(
  database: Database,
  postgres: Postgres,
  space: Pick<PostgresLedgerOptions, 'prefix' | 'tenant' | 'timing'>,
): Promise<PostgresLedger> {
  const { pool, transactions } = database;
  const { schema } = postgres;
  const ledger = new PostgresLedger({ pool, transactions, schema, ...space });
  try {
    if (postgres.migrate) await retryOnBoot(() => migrateLedger(pool, { schema }));
    await retryOnBoot(() => ledger.checkSchema());
  } catch (error) {
    // Nest ends nothing of a module that it could not build.
    await database.close();
    throw refusalOf(error, postgres);
  }
  return ledger;
}

/** By the code of the system or of PostgreSQL, and by the message where `pg` gives no code. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing is listening there (ECONNREFUSED). Start PostgreSQL, or correct the address.'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name cannot be resolved. Correct the address, or the name service.'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i,
    'it did not answer in time. Check the address, the firewall and the server.',
  ],
  [/^(28P01|28000)$/, 'it refused the user or the password. Correct them in the address.'],
  [/^3D000$/, 'it has no database with that name. Create it, or correct the address.'],
  [/^42501$/, "the user may not read the ledger's tables. Grant USAGE on their schema and rights on its tables."],
  [/^53300$/, 'it has no connection left. Raise max_connections, or connect fewer processes.'],
  [/^57P0[123]$/, 'it is starting up or shutting down. Try again when it is up.'],
  [/SSL|TLS/i, 'the TLS handshake failed. Correct "sslmode" in the address.'],
];

/**
 * The sentence with which a process refuses to start, in place of what `pg` throws.
 * @returns the error itself where it is one of ours
 */
function refusalOf(error: unknown, { url }: Pick<Postgres, 'url'>): unknown {
  if (error instanceof FencepostError && !(error instanceof PoolExhaustedError)) return error;
  const message = messageOf(error);
  const known = REASONS.find(([pattern]) => pattern.test(sqlState(error) ?? '') || pattern.test(message));
  const place = url === undefined ? 'behind the pool in the option "postgres"' : `at ${redactUrl(url)}`;
  // No `cause`: a driver may keep the password on what it throws.
  return new SetupError(`Expected a PostgreSQL ${place}, but ${known ? known[1] : `asking it failed: ${message}.`}`);
}

/** Where a host has several addresses, what each of them answered comes as one error without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
