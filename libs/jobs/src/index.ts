export { SingletonCron } from './nest/singleton-cron.decorator.js';
export type { SingletonCronOptions } from './nest/singleton-cron.decorator.js';
export { CronDeclarationError } from './nest/cron-declaration-error.js';
export { JobsModule } from './nest/jobs.module.js';
export type { JobsModuleOptions, Role } from './nest/options.js';
export type { JobsOptionsSource } from './nest/jobs-core.module.js';
export { CATALOG, LEDGER } from './nest/tokens.js';

export type { EffectContext, RunContext, RunHandler, RunLog } from './running/run-context.js';
export { EffectNameError, EffectResultError, ShutdownError } from './running/errors.js';

export type { Ledger } from './ledger/ledger.js';
export type { MissedRange, OverlapPolicy, Run, RunReason, SkipRange, SkipReason } from './ledger/run.js';
export type { RunState } from './ledger/run-state.js';
export { RedisLedger } from './ledger/redis-ledger.js';

export type { Catalog } from './catalog/catalog.js';
export type { CatalogEntry, CronDefinition, MisfirePolicy } from './catalog/definition.js';
export { DefinitionConflictError } from './catalog/definition-conflict-error.js';
export { RedisCatalog } from './catalog/redis-catalog.js';

export { parseSchedule, ScheduleError, ScheduleTextError } from './schedule/schedule.js';
export type { CronSchedule, DstRule, Schedule, ScheduleText } from './schedule/schedule.js';
export { spreadOf } from './schedule/spread.js';

export { EVENT_TEXT } from './telemetry/events.js';
export type { EventLevel, EventName, Events } from './telemetry/events.js';
export { logEvents } from './telemetry/log-events.js';
export type { EventLogger } from './telemetry/log-events.js';
export { Telemetry } from './telemetry/telemetry.js';
