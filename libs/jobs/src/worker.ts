export { JobsModule } from './nest/jobs.module.js';
export type { JobsModuleOptions, JobsSettings } from './nest/options.js';
export { JOBS_SETTINGS } from './nest/tokens.js';
