import { StoreAwayError, type Clock, type LeaseStore } from '@fencepost/lease';
import type { OwnedLeaseStore } from '@fencepost/lease/internal/place';
import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import type { Ledger } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { PostgresCatalog } from '@fencepost/ledger/postgres';
import type { ReplicationOptions } from '@fencepost/ledger/redis';
import type { Membership } from '../membership/membership.js';
import { RedisMembership } from '../membership/redis-membership.js';
import { cronLeaseEvents, type LeaseFeed, type Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings, Role } from './options.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { Database } from './postgres-database.js';
import { commandTimeoutOf, copyOf } from './redis-copy.js';

/*
 * Opens the stores that the options ask for. Their adapters are imported here and nowhere else in this package, each only when it
 * is chosen: a process with its ledger in Redis loads no `pg` and nothing that knows PostgreSQL.
 */

/** Which of the settings say where definitions are, and what else is as safe as runs: where the ledger is. */
export interface DefinitionPlace extends Pick<JobsSettings, 'prefix' | 'tenant'> {
  readonly postgres?: Pick<NonNullable<JobsSettings['postgres']>, 'schema'> | undefined;
}

type Pooled = Pick<Database, 'pool'> | null;

/** @returns the database's part of each store's options; `null` where the ledger is in Redis */
export function inDatabase(database: Pooled, { prefix, tenant, postgres }: DefinitionPlace) {
  return database && postgres ? { pool: database.pool, schema: postgres.schema, prefix, tenant } : null;
}

/** @throws {SetupError} when the package `pg` is not there */
export async function openDatabase(settings: JobsSettings, ...deps: [Telemetry, Clock]): Promise<Database | null> {
  if (settings.ledger !== 'postgres' || !settings.postgres) return null;
  const { openPools } = await import('./postgres-database.js');
  return openPools({ ...settings, postgres: settings.postgres }, ...deps);
}

type LedgerParts = [waiting: RedisClient | null, database: Database | null, settings: JobsSettings];

export async function openLedger(redis: RedisClient, ...[waiting, database, settings]: LedgerParts): Promise<Ledger> {
  const { prefix, tenant, postgres, keepForMs: keepMs } = settings;
  const space = { prefix, tenant, timing: { keepMs } };
  if (database && postgres) {
    const { openPostgresLedger } = await import('./postgres-ledger-opening.js');
    return openPostgresLedger(database, postgres, space);
  }
  const { RedisLedger } = await import('@fencepost/ledger/redis');
  const replication = waiting && replicationOn(redis, waiting, settings);
  return new RedisLedger({ redis, ...space, ...(replication ? { replication } : {}) });
}

function replicationOn(
  redis: RedisClient,
  waiting: RedisClient,
  { waitReplicas: replicas }: JobsSettings,
): ReplicationOptions {
  return { redis: waiting, replicas, timeoutMs: Math.round(commandTimeoutOf(redis) / 2) };
}

/**
 * The ledger once more, for whatever only looks: pages, reports, metrics, alarms. Over connections of its own, so that nothing
 * that is claimed, renewed or begun ever waits behind a question.
 */
export interface ReadStores {
  /** Opened by the first question. */
  readonly redis: RedisClient;
  readonly ledger: Ledger;
}

/** After the ledger, which makes the tables. */
export async function openReadStores(
  redis: RedisClient,
  ...[database, settings]: [database: Database | null, settings: JobsSettings]
): Promise<ReadStores> {
  const { prefix, tenant, postgres, keepForMs: keepMs } = settings;
  const [copy, space] = [readingCopyOf(redis), { prefix, tenant, timing: { keepMs } }];
  if (database && postgres) {
    const { PostgresLedger } = await import('@fencepost/ledger/postgres');
    const { reads: pool } = database;
    return { redis: copy, ledger: new PostgresLedger({ pool, transactions: pool, schema: postgres.schema, ...space }) };
  }
  const { RedisLedger } = await import('@fencepost/ledger/redis');
  return { redis: copy, ledger: new RedisLedger({ redis: copy, ...space }) };
}

/** It connects when it is first asked: a pod that nobody looks at has no such connection. */
function readingCopyOf(redis: RedisClient): RedisClient {
  const commandTimeoutMs = commandTimeoutOf(redis);
  const copy = copyOf(redis, {
    ...{ name: 'fencepost-reads', commandTimeoutMs, patienceMs: 2 * commandTimeoutMs },
    isLazy: true,
  });
  // The other connection to the same server tells of it.
  copy.on('error', () => {});
  return copy;
}

type CatalogSettings = DefinitionPlace & Partial<Pick<JobsSettings, 'maxCrons'>>;
type CatalogParts = [database: Pooled, settings: CatalogSettings, roles: readonly Role[], telemetry: Telemetry];

/** The tables have to be there: the ledger is opened before. A process without a role writes nothing, and so adopts nothing. */
export async function openCatalog(
  redis: RedisClient,
  ...[database, settings, roles, telemetry]: CatalogParts
): Promise<Catalog> {
  const { prefix, tenant, maxCrons } = settings;
  const place = inDatabase(database, settings);
  if (!place) {
    const { RedisCatalog } = await import('@fencepost/ledger/redis');
    return new RedisCatalog({ redis, prefix, tenant, maxCrons });
  }
  const { openPostgresCatalog, PostgresCatalog } = await import('@fencepost/ledger/postgres');
  if (roles.length === 0) return new PostgresCatalog({ ...place, redis, maxCrons });
  const { catalog, adopted } = await retryOnBoot(() => openPostgresCatalog({ ...place, redis, maxCrons }));
  if (adopted !== null) telemetry.emit('catalog.adopted', { crons: adopted });
  return catalog;
}

export async function openAuditTrail(
  redis: RedisClient,
  ...[database, settings]: [database: Pooled, settings: DefinitionPlace]
): Promise<AuditTrail> {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  if (place === null) {
    const { RedisAuditTrail } = await import('@fencepost/ledger/audit-trail');
    return new RedisAuditTrail({ redis, prefix, tenant });
  }
  const { PostgresAuditTrail } = await import('@fencepost/ledger/postgres');
  return new PostgresAuditTrail(place);
}

type MembershipParts = [catalog: Catalog, settings: JobsSettings, clock: Clock, telemetry: Telemetry];

export async function openMembership(
  redis: RedisClient,
  ...[catalog, settings, clock, telemetry]: MembershipParts
): Promise<Membership> {
  const { prefix, tenant } = settings;
  const membership = new RedisMembership({ redis, prefix, tenant });
  if (!isInPostgres(catalog)) return membership;
  const { CatalogMembership } = await import('../membership/catalog-membership.js');
  return new CatalogMembership({ membership, catalog, clock, telemetry });
}

function isInPostgres(catalog: Catalog): catalog is PostgresCatalog {
  return 'readVersion' in catalog;
}

type LeaseParts = [redis: RedisClient, database: Database | null];
type LeaseDeps = [settings: JobsSettings, roles: readonly Role[], clock: Clock, feed: LeaseFeed, telemetry: Telemetry];

const keep = async () => {};

/**
 * Opens the store of the crons' leases, which one's own leases never meet. In a worker, which acquires none, nothing is
 * connected for them.
 * @throws {SetupError} where they can't be kept as the options say
 */
export async function openCronLeases(
  ...[redis, database, settings, roles, clock, feed, telemetry]: [...LeaseParts, ...LeaseDeps]
): Promise<OwnedLeaseStore> {
  const { leases, prefix, tenant, leaseTtlMs: ttlMs, postgres } = settings;
  const place = { prefix, tenant, kind: 'cron' } as const;
  if (leases === 'redis') return { store: new RedisLeaseStore({ redis, ...place }), close: keep };
  if (!roles.includes('scheduler')) return { store: elsewhere, close: keep };
  if (leases !== 'postgres') {
    const { openLeaseStore } = await import('@fencepost/lease/internal/place');
    const opening = { ...place, ttlMs, clock, observe: cronLeaseEvents(feed, telemetry) };
    return retryOnBoot(() => openLeaseStore(leases, opening));
  }
  if (!database || !postgres) throw new TypeError('Expected a database for leases in PostgreSQL.');
  const { createLeaseTable, PostgresLeaseStore } = await import('@fencepost/lease/postgres');
  await createLeaseTable(database.leases, postgres);
  const store = new PostgresLeaseStore({ ...place, client: database.leases, schema: postgres.schema, clock });
  return { store, close: keep };
}

/** A store that this process has not opened. It answers nothing rather than something false. */
const elsewhere: LeaseStore = {
  ...{ acquire: refuse, renew: refuse, release: refuse, evict: refuse },
  ...{ inspect: refuse, watchReleases: refuse },
};

function refuse(): Promise<never> {
  return Promise.reject(new LeasesElsewhereError());
}

/** A worker was asked for the lease of a cron, and only schedulers know. */
class LeasesElsewhereError extends StoreAwayError {
  readonly code = 'LEASES_ELSEWHERE';

  constructor() {
    super('A worker does not open the store that the option "leases" names. Ask a scheduler, or the command line.');
  }
}
