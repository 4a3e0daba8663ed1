import type { Clock } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import type { Catalog } from '@fencepost/ledger/catalog';
import { openPostgresCatalog, PostgresCatalog, RedisCatalog } from '@fencepost/ledger/catalog';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { PostgresAuditTrail, RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisAlarmStore } from '../alarms/redis-alarm-store.js';
import type { AlarmStore } from '../alarms/alarm-store.js';
import { PostgresAlarmStore } from '../alarms/postgres-alarm-store.js';
import { CatalogMembership } from '../scheduling/catalog-membership.js';
import type { Membership } from '../scheduling/membership.js';
import { RedisMembership } from '../scheduling/redis-membership.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import type { Database } from './postgres-database.js';

/*
 * Definitions, the audit trail and alarms are kept where the ledger is: they are as safe as runs.
 */

/** Which of the settings say where definitions are. */
interface DefinitionPlace extends Pick<JobsSettings, 'prefix' | 'tenant'> {
  readonly postgres?: Pick<NonNullable<JobsSettings['postgres']>, 'schema'> | undefined;
}

type Pooled = Pick<Database, 'pool'> | null;

/** @returns the database's part of each store's options; `null` where the ledger is in Redis */
function inDatabase(database: Pooled, { prefix, tenant, postgres }: DefinitionPlace) {
  return database && postgres ? { pool: database.pool, schema: postgres.schema, prefix, tenant } : null;
}

type CatalogParts = [database: Pooled, settings: DefinitionPlace, telemetry: Telemetry];

/** The tables have to be there: the ledger is opened before. */
export async function openCatalog(redis: RedisClient, ...[database, settings, telemetry]: CatalogParts) {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  if (!place) return new RedisCatalog({ redis, prefix, tenant });
  const { catalog, adopted } = await retryOnBoot(() => openPostgresCatalog({ ...place, redis }));
  if (adopted !== null) telemetry.emit('catalog.adopted', { crons: adopted });
  return catalog;
}

type MembershipParts = [catalog: Catalog, settings: JobsSettings, clock: Clock, telemetry: Telemetry];

export function openMembership(
  redis: RedisClient,
  ...[catalog, settings, clock, telemetry]: MembershipParts
): Membership {
  const { prefix, tenant } = settings;
  const membership = new RedisMembership({ redis, prefix, tenant });
  return catalog instanceof PostgresCatalog
    ? new CatalogMembership({ membership, catalog, clock, telemetry })
    : membership;
}

export function openAuditTrail(redis: RedisClient, database: Pooled, settings: DefinitionPlace): AuditTrail {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAuditTrail(place) : new RedisAuditTrail({ redis, prefix, tenant });
}

export function openAlarmStore(redis: RedisClient, database: Database | null, settings: JobsSettings): AlarmStore {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAlarmStore(place) : new RedisAlarmStore({ redis, prefix, tenant });
}
