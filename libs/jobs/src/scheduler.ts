export { JobsModule } from './nest/jobs.module.js';
export type { JobsModuleOptions, JobsSettings } from './nest/options.js';
export type { Reads } from './nest/reads.js';
export { CRON_LEASE_STORE, JOBS_SETTINGS, READS, RUN_QUEUE } from './nest/tokens.js';

export { mapInSlices } from './operating/slices.js';
export { BullmqRunQueue } from './scheduling/bullmq-run-queue.js';
