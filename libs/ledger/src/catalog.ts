export { DEFAULT_CANCEL_GRACE_MS } from './base/run.js';
export type {
  Catalog,
  CatalogChanges,
  CatalogReading,
  ChangeOrder,
  ChangeReply,
  DeclaredCron,
  Declarer,
  Orderer,
  Revisions,
  UndeclaredPage,
  UnreadableRecord,
} from './catalog/catalog.js';
export { changePages, readChanges } from './catalog/read-changes.js';
export type { CatalogDelta } from './catalog/read-changes.js';
export { TOMBSTONE_MS, CatalogFullError } from './catalog/declaring.js';
export type { Word } from './catalog/word.js';
export { MAX_EXPLICIT, MIN_EXPLICIT } from './catalog/revision.js';
export { definitionSet, isSameDeclaration } from './catalog/definition-set.js';
export type { AppRevision, Revision } from './catalog/revision.js';
export type { DefinitionSet, EnrolmentHint, KnownRevision } from './catalog/definition-set.js';
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
