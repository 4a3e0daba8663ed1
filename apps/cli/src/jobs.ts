/** Everything this program uses of the jobs library, so that one look tells. */
export { audit } from '@fencepost/operations/audit';
export {
  BullmqRunQueue,
  CatalogMovedError,
  eventSentence,
  isStoreError,
  knownCron,
  RedisMembership,
} from '@fencepost/jobs/internal';
export {
  CronCatalog,
  CronOperator,
  Doctor,
  findLostDefinitions,
  holderSeemsAlive,
  LeaseService,
  LeaseMovedError,
  needsCare,
  overviewOf,
  readRedisFacts,
  RedisPodRegistry,
  RunOperator,
  ExplainService,
  withAudit,
} from '@fencepost/operations';
export { JournalFeed, RedisJournal } from '@fencepost/operations/journal';
export {
  lateBy,
  presentCronDetail,
  presentJournalEntry,
  presentLease,
  presentPod,
  presentRun,
  presentRunReport,
  presentWhyReport,
} from '@fencepost/operations/presenting';
export { Telemetry, UnknownCronError } from '@fencepost/jobs';
export { contentHash } from '@fencepost/ledger/catalog';
export { listTenants, openPostgresCatalog, PostgresCatalog } from '@fencepost/ledger/postgres';
export { RedisCatalog } from '@fencepost/ledger/redis';
export { CRON_NAME } from '@fencepost/ledger/run';
export { migrateLedger, PostgresLedger, readPostgresFacts } from '@fencepost/ledger/postgres';
export { PostgresAuditTrail, RedisAuditTrail } from '@fencepost/ledger/audit-trail';
export { RedisLedger } from '@fencepost/ledger/redis';
export { parseSchedule, ScheduleError, zoneNamed } from '@fencepost/schedule';
export type {
  AuditedOrder,
  BackfillProgress,
  BackfillReport,
  ClearedLease,
  CronOverview,
  CronSettings,
  DoctorFinding,
  CronLease,
  LeaseList,
  PodCard,
  Resolved,
  RunReport,
  WatchReport,
  WhyReport,
  WhyStep,
} from '@fencepost/operations';
export type { AuditReport } from '@fencepost/operations/audit';
export type { CronDetailJson } from '@fencepost/operations/presenting';
export type { EventLevel } from '@fencepost/jobs';
export type { JournalEntry } from '@fencepost/operations/journal';
export type { RunQueue } from '@fencepost/jobs/internal';
export type { AuditTrail } from '@fencepost/ledger/audit-trail';
export type { CancelReply, Ledger, TriggerReply } from '@fencepost/ledger';
export type { Catalog, CatalogEntry, CronDefinition, Declaration } from '@fencepost/ledger/catalog';
export type { Pause, Run } from '@fencepost/ledger/run';
export type { PostgresFacts } from '@fencepost/ledger/postgres';
export type { CronSchedule, DstRule, ScheduleText } from '@fencepost/schedule';
