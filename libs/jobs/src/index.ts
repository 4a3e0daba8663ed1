export { SingletonCron } from './nest/singleton-cron.decorator.js';
export type { SingletonCronOptions } from './nest/singleton-cron.decorator.js';
export { JobHandler } from './nest/job-handler.decorator.js';
export type { JobHandlerOptions, JobRun } from './nest/job-handler.decorator.js';
export type { HandlerOptions } from './nest/handler-options.js';
export { CronDeclarationError } from './nest/cron-declaration-error.js';
export { JobsModule } from './nest/jobs.module.js';
export type { AlarmOptions, WebhookOptions } from './nest/webhook-options.js';
export type { JobsModuleOptions, PostgresOptions, Role } from './nest/options.js';
export type { JobsOptionsSource } from './nest/jobs-core.module.js';
export { StoreHealth } from './nest/store-health.js';
export type { StoreStatus } from './nest/store-health.js';
export { CATALOG, LEDGER } from './nest/tokens.js';

export { Jobs } from './enqueuing/jobs.js';
export type { Enqueued, JobItem } from './enqueuing/jobs.js';
export type { EnqueueOptions } from './enqueuing/job-order.js';
export { IdempotencyKeyError } from './enqueuing/job-errors.js';
export { UnknownCronError } from './enqueuing/errors.js';
export type { EventLevel, EventName, Events } from './telemetry/events.js';
export { Telemetry } from './telemetry/telemetry.js';

export type { RunContext, RunHandler, RunLog } from './running/run-context.js';
export type { EffectContext, IfUnknown, Lookup, LookupAnswer, LookupContext } from './running/effect-context.js';
export type { EffectOptions } from './running/effect-options.js';
export type { ForEachCounts, ForEachOptions, ItemAct } from './running/for-each-options.js';
export type { TransactionOptions, TransactionWork } from './running/transaction.js';
export type { PayloadOf } from './running/payload-schema.js';
export {
  AttemptTimeoutError,
  EffectNameError,
  EffectResultError,
  PayloadError,
  RunCancelledError,
  ShutdownError,
} from './running/errors.js';
export {
  EffectUnresolvedError,
  EffectOptionError,
  EffectPayloadError,
  EffectTimeoutError,
  EffectUnknownError,
  TransactionUnavailableError,
} from './running/effect-errors.js';
export type { StandardSchema } from './running/standard-schema.js';
export { ForEachError, ForEachKeyError } from './running/for-each-errors.js';
export { ConcurrencyKeyError } from './running/concurrency-key.js';
export { ClassificationError } from './nest/classification-error.js';
export { JobPayloadError } from './running/job-payload-error.js';

export { logEvents } from './telemetry/log-events.js';
export type { EventLogger } from './telemetry/log-events.js';
