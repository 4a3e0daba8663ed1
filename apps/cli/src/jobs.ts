/** Everything this program uses of the jobs library, so that one look tells. */
export {
  audit,
  BullmqRunQueue,
  CatalogMovedError,
  CronCatalog,
  CronOperator,
  Doctor,
  eventSentence,
  findLostDefinitions,
  holderSeemsAlive,
  isStoreError,
  JournalFeed,
  lateBy,
  knownCron,
  LeaseService,
  LeaseMovedError,
  needsCare,
  overviewOf,
  presentCronDetail,
  presentJournalEntry,
  presentLease,
  presentPod,
  presentRun,
  presentRunReport,
  presentWhyReport,
  readRedisFacts,
  RedisJournal,
  RedisPodRegistry,
  RedisMembership,
  RunOperator,
  Telemetry,
  UnknownCronError,
  ExplainService,
  withAudit,
} from '@fencepost/jobs/operating';
export {
  contentHash,
  listTenants,
  openPostgresCatalog,
  PostgresCatalog,
  RedisCatalog,
} from '@fencepost/ledger/catalog';
export { CRON_NAME } from '@fencepost/ledger/run';
export { migrateLedger, PostgresLedger, readPostgresFacts } from '@fencepost/ledger/postgres';
export { PostgresAuditTrail, RedisAuditTrail } from '@fencepost/ledger/audit-trail';
export { RedisLedger } from '@fencepost/ledger/redis';
export { parseSchedule, ScheduleError, zoneNamed } from '@fencepost/schedule';
export type {
  AuditedOrder,
  AuditReport,
  BackfillProgress,
  BackfillReport,
  ClearedLease,
  CronDetailJson,
  CronOverview,
  CronSettings,
  DoctorFinding,
  EventLevel,
  CronLease,
  JournalEntry,
  LeaseList,
  PodCard,
  Resolved,
  RunQueue,
  RunReport,
  WatchReport,
  WhyReport,
  WhyStep,
} from '@fencepost/jobs/operating';
export type { AuditTrail } from '@fencepost/ledger/audit-trail';
export type { CancelReply, Ledger, TriggerReply } from '@fencepost/ledger';
export type { Catalog, CatalogEntry, CronDefinition, Declaration } from '@fencepost/ledger/catalog';
export type { Pause, Run } from '@fencepost/ledger/run';
export type { PostgresFacts } from '@fencepost/ledger/postgres';
export type { CronSchedule, DstRule, ScheduleText } from '@fencepost/schedule';
