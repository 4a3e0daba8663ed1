/** Everything this program uses of the jobs library, so that one look tells. */
export { audit } from '@fencepost/operations/audit';
export {
  BullmqRunQueue,
  CatalogMovedError,
  eventSentence,
  isStoreError,
  libraryVersion,
  readQueueLimits,
  RedisMembership,
  RedisPodRegistry,
} from '@fencepost/jobs/internal';
export { RedisShadowLog } from '@fencepost/jobs/internal/shadow';
export {
  CronCatalog,
  CronOperator,
  DeclaredCronError,
  Doctor,
  LeaseService,
  LeaseMovedError,
  RunOperator,
  ExplainService,
  UnknownRunError,
} from '@fencepost/operations';
export {
  CatalogView,
  CronDirectory,
  differingParts,
  DuplicateWatch,
  findLostDefinitions,
  importLines,
  InvalidCronsError,
  lineOf,
  readCronLines,
  instantDifference,
  instantsOf,
  journalOfRun,
  LiveRevisions,
  Mutes,
  needsCare,
  openAlarmStore,
  ORDER_RECORDS,
  OwnLeaseWatch,
  readLivePods,
  readRedisFacts,
  unreportedText,
  withAudit,
} from '@fencepost/operations/internal';
export { JournalFeed, RedisJournal } from '@fencepost/operations/journal';
export {
  CRON_SORTS,
  CRON_STATES,
  presentHeldLease,
  presentJournalEntry,
  presentLease,
  presentMute,
  presentOwnLease,
  presentPause,
  presentPodList,
  presentRun,
  presentRunReport,
  presentWhyReport,
} from '@fencepost/operations/presenting';
export { Telemetry } from '@fencepost/jobs';
export { UnknownCronError } from '@fencepost/jobs/errors';
export { contentHash, CRON_TEXTS } from '@fencepost/ledger/catalog';
export { listTenants, openPostgresCatalog, PostgresCatalog } from '@fencepost/ledger/postgres';
export { RedisCatalog } from '@fencepost/ledger/redis';
export { CRON_NAME } from '@fencepost/ledger/run';
export {
  migrateLedger,
  planMigration,
  PostgresAuditTrail,
  PostgresLedger,
  readPostgresFacts,
} from '@fencepost/ledger/postgres';
export { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
export { RedisLedger } from '@fencepost/ledger/redis';
export { isEvery, parseSchedule, ScheduleError, zoneNamed, zoneOfOffset } from '@fencepost/schedule';
export type { BackfillProgress, CronChanges, CronSettings } from '@fencepost/operations';
export type {
  AuditedOrder,
  CronLines,
  InstantDifference,
  ManyProgress,
  ManyReport,
  Only,
  RecordPart,
  WatchReport,
} from '@fencepost/operations/internal';
export type { AuditReport } from '@fencepost/operations/audit';
export type { EventLevel, RunQueue } from '@fencepost/jobs/internal';
export type { ShadowInterval, ShadowReading, ShadowRecord, WatchedCron } from '@fencepost/jobs/internal/shadow';
export type { AuditTrail } from '@fencepost/ledger/audit-trail';
export type { CancelReply, Ledger, TriggerReply } from '@fencepost/ledger';
export type { Catalog, CatalogEntry, CronDefinition, Declaration } from '@fencepost/ledger/catalog';
export type { Run } from '@fencepost/ledger/run';
export type { PostgresFacts } from '@fencepost/ledger/postgres';
export type { CronSchedule, DstRule, ScheduleText } from '@fencepost/schedule';
