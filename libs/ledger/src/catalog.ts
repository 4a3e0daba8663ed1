export { DEFAULT_CANCEL_GRACE_MS } from './base/run.js';
export type {
  Build,
  Catalog,
  CatalogChanges,
  CatalogReading,
  ChangeOrder,
  ChangeReply,
  DeclareReply,
  Orderer,
  UnreadableRecord,
} from './catalog/catalog.js';
export { changePages, readChanges } from './catalog/read-changes.js';
export type { CatalogDelta } from './catalog/read-changes.js';
export { TOMBSTONE_MS, CatalogFullError, DefinitionConflictError } from './catalog/declaring.js';
export {
  CRON_TEXTS,
  DEFAULT_MAX_CATCH_UP,
  EFFECTIVE_AFTER_MS,
  KEPT_GENERATIONS,
  contentHash,
} from './catalog/definition.js';
export type {
  CatalogEntry,
  CronDefinition,
  CronPing,
  CronState,
  Declaration,
  Generation,
  MisfirePolicy,
} from './catalog/definition.js';
export { ZoneDataWatch } from './catalog/zone-data-watch.js';
