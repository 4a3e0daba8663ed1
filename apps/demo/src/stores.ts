import { randomUUID } from 'node:crypto';
import { migrateLedger, PostgresLedger, PostgresCatalog } from '@fencepost/ledger/postgres';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { RedisMembership } from '@fencepost/jobs/internal';
import type { audit } from '@fencepost/operations/audit';
import { systemClock } from '@fencepost/lease';
import { redactUrl, type KeySpace } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis, RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_MS } from './pods.js';
import { dropSchema, openPool, SCHEMA } from './postgres-schema.js';

/** The stores of one deployment, and the table that the jobs of `apps/worker` write to. All of it is only read. */
export interface Stores extends Omit<Parameters<typeof audit>[0], 'ledger'> {
  readonly ledger: Pick<RedisLedger, 'readCrons' | 'account'>;
  readonly leases: Pick<RedisLeaseStore, 'inspect'>;
  readonly sink: Pick<RedisFencedRows, 'journal' | 'turnedDown'>;
}

export interface Deployment {
  readonly stores: Stores;
  readonly podEnv: Readonly<Record<string, string>>;
  /** The same for the file that the command line reads; `null` where it would hold a password. */
  readonly place: Readonly<Record<string, string>> | null;
  /** Where the stores are, and what to type in another terminal to use the command line on them. */
  readonly places: readonly string[];
  /** How to audit the demo afterwards; `null` where its records are removed at the end. */
  readonly audit: string | null;
  close(): Promise<void>;
}

const TENANT = 'demo';

const POD_ENV = {
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
  FENCEPOST_TENANT: TENANT,
  FENCEPOST_LEASE_TTL: `${LEASE_MS.scheduler}ms`,
  FENCEPOST_RUN_LEASE: `${LEASE_MS.worker}ms`,
  FENCEPOST_SWEEP_EVERY: '500ms',
  FENCEPOST_DRAIN_DEADLINE: '5s',
  FENCEPOST_AUTH: 'none',
  // All runs of a day, for the audit.
  FENCEPOST_KEEP_RUNS: '50000',
};

/** @throws {Error} when a store can't be reached */
export async function deploy(env: NodeJS.ProcessEnv, ledger: 'redis' | 'postgres'): Promise<Deployment> {
  const url = required(env, 'REDIS_URL');
  const database = ledger === 'postgres' ? required(env, 'DATABASE_URL') : null;
  const how = env['FENCEPOST_REDIS_HOW'] ?? 'REDIS_URL';
  // Servers given by the user outlive the demo, and so do its records. With one of two, an audit would miss everything.
  const given = database === null ? 'DATABASE_URL' : (env['FENCEPOST_POSTGRES_HOW'] ?? 'DATABASE_URL');
  const kept = how === 'REDIS_URL' && given === 'DATABASE_URL';
  const prefix = kept ? env['FENCEPOST_PREFIX'] || 'fencepost' : `demo-${randomUUID().slice(0, 8)}`;
  const redis = await connectRedis({ url, commandTimeoutMs: 2_000, name: prefix });
  const pool = database === null ? null : openPool(database);
  const at = { redis, prefix, tenant: TENANT };
  const clear = () => Promise.all([clearKeys(at), pool && dropSchema(pool)]);
  const close = async () => {
    // Pods that were killed left keys too. An unreachable store has nothing to remove.
    if (!kept) await clear().catch(() => {});
    await Promise.all([closeRedis(redis), pool?.end()]);
  };
  try {
    await clear();
    if (pool) await migrateLedger(pool, { schema: SCHEMA });
  } catch (error) {
    await close();
    throw error;
  }
  const postgres = database && { FENCEPOST_LEDGER: ledger, DATABASE_URL: database, FENCEPOST_SCHEMA: SCHEMA };
  const shared = { REDIS_URL: url, FENCEPOST_PREFIX: prefix, ...postgres };
  const where = `Redis at ${redactUrl(url)} (${how})`;
  const named = `Prefix ${prefix}, tenant ${TENANT}`;
  const places = [
    `${named}, ${where}`,
    ...(database ? [`ledger in PostgreSQL at ${redactUrl(database)}`] : []),
    access({ ...shared, FENCEPOST_TENANT: TENANT }),
  ];
  const audit = kept ? auditText(url, pool !== null) : null;
  const place = { redis: url, prefix, tenant: TENANT, ...(database && { postgres: database, schema: SCHEMA }) };
  const isOpen = Object.values(place).every((value) => redactUrl(value) === value);
  const stands = { places, place: isOpen ? place : null, audit };
  return { stores: open(at, pool), podEnv: { ...POD_ENV, ...shared }, ...stands, close };
}

function required(env: NodeJS.ProcessEnv, name: 'REDIS_URL' | 'DATABASE_URL'): string {
  if (env[name]) return env[name];
  throw new Error(`Expected ${name} in the environment. "npm start" finds or starts a server and sets it.`);
}

type Place = KeySpace & { readonly redis: RedisClient };

function open(at: Place, pool: ReturnType<typeof openPool> | null): Stores {
  return {
    catalog: pool ? new PostgresCatalog({ ...at, pool, schema: SCHEMA }) : new RedisCatalog(at),
    ledger: pool ? new PostgresLedger({ ...at, pool, schema: SCHEMA }) : new RedisLedger(at),
    membership: new RedisMembership(at),
    leases: new RedisLeaseStore({ ...at, kind: 'cron' }),
    sink: new RedisFencedRows({ ...at, table: 'sink' }),
    clock: systemClock,
  };
}

/** Removes the keys of this prefix and tenant, including BullMQ's; those of other tenants stay. */
async function clearKeys({ redis, prefix, tenant }: Place): Promise<void> {
  const own = [`${prefix}:v1:{${tenant}:`, `{${prefix}:${tenant}}`];
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1_000);
    const keys = found.filter((key) => own.some((start) => key.startsWith(start)));
    if (keys.length > 0) await redis.unlink(keys);
    cursor = next;
  } while (cursor !== '0');
}

/** An address with a password is not printed: it came from a variable, which is set in the other terminal as well. */
function access(variables: Readonly<Record<string, string>>): string {
  const shown = Object.entries(variables).filter(([, value]) => redactUrl(value) === value);
  return `export ${shown.map(([name, value]) => `${name}=${value}`).join(' ')} && npx fencepost list`;
}

function auditText(url: string, onPostgres: boolean): string {
  const postgres = onPostgres ? ` --postgres "$DATABASE_URL" --schema ${SCHEMA}` : '';
  return `The records are kept: npx fencepost audit --redis ${redactUrl(url)} --tenant ${TENANT}${postgres}`;
}
