export { JobsModule } from './nest/jobs.module.js';
export type { JobsModuleOptions, JobsSettings } from './nest/options.js';

export { CRON_LEASE_STORE, JOBS_SETTINGS, RUN_QUEUE } from './nest/tokens.js';

export { BullmqRunQueue } from './scheduling/bullmq-run-queue.js';
