/* What @fencepost/testing drives a scheduler and a worker with. Not public: it may change without notice. */

export { CronExplorer } from './nest/cron-explorer.js';
export type { FoundCron } from './nest/cron-explorer.js';
export { JOB_METADATA } from './nest/job-handler.decorator.js';
export { CRON_METADATA } from './nest/singleton-cron.decorator.js';
export type { EnqueueOptions } from './operating/job-order.js';
export { runnableCron } from './operating/known-cron.js';
export { uuidV7 } from './operating/uuid-v7.js';
export type { CronHandler, Disposition } from './running/delivery.js';
export { execute } from './running/execute.js';
export { LazyAbort } from './running/lazy-abort.js';
export { payloadHash } from './running/payload-hash.js';
export { claimRequest } from './scheduling/claim-request.js';
export { Dispatcher } from './scheduling/dispatcher.js';
export { newestRange } from './scheduling/generation-ranges.js';
export type { GenerationRange } from './scheduling/generation-ranges.js';
export { holdCron } from './scheduling/held-cron.js';
export type { HeldCron } from './scheduling/held-cron.js';
export { MemoryMembership } from './scheduling/memory-membership.js';
export type { Place, QueuedDelivery } from './scheduling/run-queue.js';
export { Schedules } from './scheduling/schedules.js';
