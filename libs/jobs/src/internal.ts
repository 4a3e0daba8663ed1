/* What the other packages of this repository need of a scheduler and a worker. Not public: it may change without notice. */

export { CatalogMovedError } from './enqueuing/errors.js';
export { askToLook, deliver, deliverAll } from './enqueuing/jobs.js';
export type { DeliveryPorts } from './enqueuing/jobs.js';
export { effectiveGeneration, generationsOf, knownCron, runnableCron } from './enqueuing/known-cron.js';
export type { KnownCron } from './enqueuing/known-cron.js';
export { checkedInstant, checkedMs, checkedPayload, checkedText, uuidV7 } from './enqueuing/job-order.js';
export { MAX_OVERDUE, OVERDUE_MS } from './membership/membership.js';
export type { LiveProcess, Membership } from './membership/membership.js';
export { RedisMembership } from './membership/redis-membership.js';
export { checkRuntimeCron } from './nest/cron-declaration.js';
export { CronExplorer } from './nest/cron-explorer.js';
export type { FoundCron } from './nest/cron-explorer.js';
export { decoratedOn } from './nest/decorated-methods.js';
export type { HandlerOptions } from './nest/handler-options.js';
export type { JobsSettings } from './nest/options.js';
export { newestJobsModule } from './nest/jobs.module.js';
export type { Database } from './nest/postgres-database.js';
export { commandTimeoutOf, copyOf, workerCopyOf } from './nest/redis-copy.js';
export type { SchedulerRunner } from './nest/scheduler-runner.js';
export { inDatabase, openAuditTrail } from './nest/stores.js';
export type { DefinitionPlace, ReadStores } from './nest/stores.js';
export {
  ALARM_QUEUE,
  CATALOG,
  CRON_LEASE_STORE,
  DATABASE,
  JOBS_SETTINGS,
  MEMBERSHIP,
  POD_REGISTRY,
  READ_STORES,
  ROLES,
  RUN_QUEUE,
  SCHEDULER,
} from './nest/tokens.js';
export {
  happeningOf,
  pingMessages,
  pingOf,
  webhookMessages,
  webhookName,
  signatureHeaders,
} from './notifying/messages.js';
export type { AlarmQueue, Message, Webhook } from './notifying/messages.js';
export { BullmqAlarmQueue, FIRST_PAUSE_MS, MAX_TRIES } from './notifying/bullmq-alarm-queue.js';
export { libraryVersion } from './pods/library-version.js';
export {
  POD_GONE_MS,
  type HeardRevision,
  type PodCard,
  type PodRegistry,
  type RegistryReading,
} from './pods/pod-registry.js';
export { RedisPodRegistry } from './pods/redis-pod-registry.js';
export { BullmqRunQueue } from './queue/bullmq-run-queue.js';
export { FusedClaims } from './queue/fused-claims.js';
export { RunSteps, runOfJob } from './queue/run-steps.js';
export { ALARM_QUEUE_NAME, FORMER_QUEUE, UNROUTED_QUEUE } from './queue/routing.js';
export { queuePrefix } from './queue/run-queues.js';
export { readQueueLimits, type QueueLimits } from './queue/queue-limits.js';
export { MAX_PRIORITY } from './queue/run-queue.js';
export type { Place, QueuedDelivery, RunQueue } from './queue/run-queue.js';
export type { CronHandler, Disposition } from './running/delivery.js';
export { execute } from './running/execute.js';
export type { ItemAct } from './running/effect-options.js';
export { LazyAbort } from './running/lazy-abort.js';
export { payloadHash } from './running/effect-options.js';
export type { RunLog } from './running/run-context.js';
export type { TransactionOptions, TransactionWork } from './running/transaction.js';
export { newestRange, Schedules } from './schedules/schedules.js';
export type { GenerationRange, SharedSchedule, SharedSchedules } from './schedules/schedules.js';
export type { Alarm, AlarmChange, AlarmKind } from './telemetry/alarm.js';
export {
  describeError,
  asError,
  reportQueueFailure,
  reportStoreFailure,
  isStoreError,
} from './telemetry/report-failure.js';
export { EVENT_TEXT } from './telemetry/event-text.js';
export { eventLevel } from './telemetry/event-level.js';
export { eventSentence } from './telemetry/log-line.js';
export type { EventLevel, Failure } from './telemetry/events.js';
export { LeaseFeed } from './telemetry/telemetry.js';
export type { EventListener } from './telemetry/telemetry.js';
