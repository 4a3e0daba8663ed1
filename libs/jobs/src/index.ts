export { SingletonCron } from './nest/singleton-cron.decorator.js';
export type { SingletonCronOptions } from './nest/singleton-cron.decorator.js';
export { CronDeclarationError } from './nest/cron-declaration-error.js';
export { JobsModule } from './nest/jobs.module.js';
export type { JobsModuleOptions, Role } from './nest/options.js';
export type { JobsOptionsSource } from './nest/jobs-core.module.js';
export { CATALOG, LEDGER } from './nest/tokens.js';

export * from './operating.js';

export type { EffectContext, RunContext, RunHandler, RunLog } from './running/run-context.js';
export { EffectNameError, EffectResultError, RunCancelledError, ShutdownError } from './running/errors.js';

export { EVENT_TEXT } from './telemetry/events.js';
export type { EventLevel, EventName, Events } from './telemetry/events.js';
export { logEvents } from './telemetry/log-events.js';
export type { EventLogger } from './telemetry/log-events.js';
export { Telemetry } from './telemetry/telemetry.js';
