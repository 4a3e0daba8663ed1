export { DEFAULT_CANCEL_GRACE_MS } from './base/run.js';
export type { Build, Catalog, CatalogReading, ChangeOrder, ChangeReply, DeclareReply } from './catalog/catalog.js';
export { TOMBSTONE_MS } from './catalog/declaring.js';
export { DefinitionConflictError } from './catalog/definition-conflict-error.js';
export { DEFAULT_MAX_CATCH_UP, EFFECTIVE_AFTER_MS, KEPT_GENERATIONS, contentHash } from './catalog/definition.js';
export type {
  CatalogEntry,
  CronDefinition,
  CronPing,
  CronState,
  Declaration,
  Generation,
  MisfirePolicy,
} from './catalog/definition.js';
export { MemoryCatalog } from './memory/memory-catalog.js';
export { PostgresCatalog, listTenants, openPostgresCatalog } from './postgres/postgres-catalog.js';
export type { CatalogVersion } from './postgres/postgres-catalog.js';
export type { UnreadableRecord } from './catalog/read-records.js';
export { RedisCatalog } from './redis/redis-catalog.js';
export { ZoneDataWatch } from './catalog/zone-data-watch.js';
