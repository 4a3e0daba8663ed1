export { DEFAULT_CANCEL_GRACE_MS } from './base/run.js';
export type {
  Build,
  Catalog,
  CatalogReading,
  ChangeOrder,
  ChangeReply,
  DeclareReply,
  UnreadableRecord,
} from './catalog/catalog.js';
export { TOMBSTONE_MS, DefinitionConflictError } from './catalog/declaring.js';
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
