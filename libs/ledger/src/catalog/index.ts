export type { Build, Catalog, CatalogReading, ChangeOrder, ChangeReply, DeclareReply } from './catalog.js';
export { TOMBSTONE_MS } from './declaring.js';
export { DefinitionConflictError } from './definition-conflict-error.js';
export {
  DEFAULT_CANCEL_GRACE_MS,
  DEFAULT_MAX_CATCH_UP,
  EFFECTIVE_AFTER_MS,
  KEPT_GENERATIONS,
  contentHash,
} from './definition.js';
export type {
  CatalogEntry,
  CronDefinition,
  CronPing,
  CronState,
  Declaration,
  Generation,
  MisfirePolicy,
} from './definition.js';
export { MemoryCatalog } from './memory-catalog.js';
export { PostgresCatalog, listTenants, openPostgresCatalog } from './postgres-catalog.js';
export type { CatalogVersion } from './postgres-catalog.js';
export type { UnreadableRecord } from './read-records.js';
export { RedisCatalog } from './redis-catalog.js';
export { ZoneDataWatch } from './zone-data-watch.js';
