export type { EnqueueOptions } from './enqueuing/job-order.js';
export { Jobs } from './enqueuing/jobs.js';
export type { Enqueued } from './enqueuing/enqueued-run.js';
export { JobHandler } from './nest/job-handler.decorator.js';
export type { JobHandlerOptions, JobRun } from './nest/job-handler.decorator.js';
export { JobsModule } from './nest/jobs.module.js';
export type { JobsModuleOptions, Role } from './nest/options.js';
export type { JobsOptionsFactory } from './nest/options-source.js';
export { SingletonCron } from './nest/singleton-cron.decorator.js';
export type { SingletonCronOptions } from './nest/singleton-cron.decorator.js';
export { StoreHealth } from './nest/store-health.js';
export type { StoreStatus } from './nest/store-health.js';
export { LEDGER } from './nest/tokens.js';
export type { EffectContext, IfUnknown, EffectOptions, ForEachOptions } from './running/effect-options.js';
export {
  EffectUnknownError,
  EffectUnresolvedError,
  AttemptTimeoutError,
  RunCancelledError,
  ShutdownError,
} from './running/errors.js';
export type { RunContext, TransactionalRunContext } from './running/run-context.js';
export type { EventName, Events } from './telemetry/events.js';
export { logEvents } from './telemetry/log-events.js';
export { Telemetry } from './telemetry/telemetry.js';
