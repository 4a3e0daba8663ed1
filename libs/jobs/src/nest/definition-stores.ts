import type { Clock } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisAlarmBook } from '../alarms/redis-alarm-book.js';
import type { AlarmBook } from '../alarms/alarm-book.js';
import { PostgresAlarmBook } from '../alarms/postgres-alarm-book.js';
import type { Catalog } from '@fencepost/ledger/catalog';
import { openPostgresCatalog, PostgresCatalog } from '@fencepost/ledger/catalog';
import { RedisCatalog } from '@fencepost/ledger/catalog';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { PostgresAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { CatalogPresence } from '../scheduling/catalog-presence.js';
import type { Presence } from '../scheduling/presence.js';
import { RedisPresence } from '../scheduling/redis-presence.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { insist } from './insist.js';
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
  const { catalog, adopted } = await insist(() => openPostgresCatalog({ ...place, redis }));
  if (adopted !== null) telemetry.emit('catalog.adopted', { crons: adopted });
  return catalog;
}

type PresenceParts = [catalog: Catalog, settings: JobsSettings, clock: Clock, telemetry: Telemetry];

export function openPresence(redis: RedisClient, ...[catalog, settings, clock, telemetry]: PresenceParts): Presence {
  const { prefix, tenant } = settings;
  const presence = new RedisPresence({ redis, prefix, tenant });
  return catalog instanceof PostgresCatalog ? new CatalogPresence({ presence, catalog, clock, telemetry }) : presence;
}

export function openAuditTrail(redis: RedisClient, database: Pooled, settings: DefinitionPlace): AuditTrail {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAuditTrail(place) : new RedisAuditTrail({ redis, prefix, tenant });
}

export function openAlarmBook(redis: RedisClient, database: Database | null, settings: JobsSettings): AlarmBook {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAlarmBook(place) : new RedisAlarmBook({ redis, prefix, tenant });
}
