/* What a program needs that looks at crons and changes them, and is no pod: no Nest in here. */

export { CronCatalog } from './operating/cron-catalog.js';
export type { CatalogOrder, CronSettings } from './operating/cron-catalog.js';
export { CronOperator } from './operating/cron-operator.js';
export type {
  BackfillOrder,
  BackfillReport,
  CronOperatorPorts,
  CronOverview,
  Resumed,
  TriggerOrder,
} from './operating/cron-operator.js';
export { RunOperator } from './operating/run-operator.js';
export type { ResolveOrder, Resolved, RetryOrder, RunFilter, RunOperatorPorts } from './operating/run-operator.js';
export type { EffectReport, ItemsSummary, RunReport } from './operating/run-report.js';
export type { ExplainedQuestion } from './operating/explain-question.js';
export { RunStateError, UnknownRunError } from './operating/run-errors.js';
export { Jobs } from './operating/jobs.js';
export type { Enqueued, EnqueueOptions, JobItem, JobsPorts } from './operating/jobs.js';
export { IdempotencyKeyError } from './operating/job-errors.js';
export { CatalogMovedError, OperatorInputError, UnknownCronError } from './operating/errors.js';

export { audit } from './audit/audit.js';
export type { AuditReport, Finding, FindingKind, NotCovered } from './audit/audit.js';

export type {
  Account,
  CancelReply,
  CronRecord,
  Delivery,
  Ledger,
  OperatorOrder,
  TriggerReply,
} from './ledger/ledger.js';
export type {
  Answer,
  Doubt,
  EffectRecord,
  MissedRange,
  OperatorAction,
  OverlapPolicy,
  Pause,
  Question,
  Run,
  RunReason,
  SkipRange,
  SkipReason,
  WaitReason,
} from './ledger/run.js';
export type { RunState } from './ledger/run-state.js';
export { RedisLedger } from './ledger/redis-ledger.js';
export type { PostgresLedgerOptions } from './ledger/postgres/postgres-ledger-access.js';
export { PostgresLedger } from './ledger/postgres/postgres-ledger.js';
export { PoolExhaustedError } from './ledger/postgres/borrow-connection.js';
export { migrateLedger } from './ledger/postgres/postgres-migrations.js';
export { isTransactional } from './ledger/transactional-ledger.js';
export type { TransactionalLedger, TransactionReply, TransactionRequest } from './ledger/transactional-ledger.js';

export type { Build, Catalog, CatalogReading, ChangeOrder, ChangeReply, DeclareReply } from './catalog/catalog.js';
export { contentHash } from './catalog/definition.js';
export type {
  CatalogEntry,
  CronDefinition,
  CronState,
  Declaration,
  Generation,
  MisfirePolicy,
} from './catalog/definition.js';
export { DefinitionConflictError } from './catalog/definition-conflict-error.js';
export { RedisCatalog } from './catalog/redis-catalog.js';

export type { Presence } from './scheduling/presence.js';
export { RedisPresence } from './scheduling/redis-presence.js';
export type { RunQueue } from './scheduling/run-queue.js';
export { BullmqRunQueue } from './scheduling/bullmq-run-queue.js';

export { CRON_NAME } from './schedule/occurrence.js';
export { parseSchedule, ScheduleError, ScheduleTextError } from './schedule/schedule.js';
export type { CronSchedule, DstRule, Schedule, ScheduleText } from './schedule/schedule.js';
export { spreadOf } from './schedule/spread.js';
export { zoneNamed } from './schedule/zone.js';
