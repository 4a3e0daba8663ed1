import type { Clock } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { PostgresCatalog, RedisCatalog, openPostgresCatalog, type Catalog } from '@fencepost/ledger/catalog';
import { CatalogMembership } from '../scheduling/catalog-membership.js';
import type { Membership } from '../scheduling/membership.js';
import { RedisMembership } from '../scheduling/redis-membership.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import type { Database } from './postgres-database.js';

/** Which of the settings say where definitions are, and what else is as safe as runs: where the ledger is. */
export interface DefinitionPlace extends Pick<JobsSettings, 'prefix' | 'tenant'> {
  readonly postgres?: Pick<NonNullable<JobsSettings['postgres']>, 'schema'> | undefined;
}

export type Pooled = Pick<Database, 'pool'> | null;

/** @returns the database's part of each store's options; `null` where the ledger is in Redis */
export function inDatabase(database: Pooled, { prefix, tenant, postgres }: DefinitionPlace) {
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
