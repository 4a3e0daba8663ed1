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
  MissedRange,
  OperatorAction,
  OverlapPolicy,
  Pause,
  Run,
  RunReason,
  SkipRange,
  SkipReason,
  WaitReason,
} from './ledger/run.js';
export type { RunState } from './ledger/run-state.js';
export { RedisLedger } from './ledger/redis-ledger.js';

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
