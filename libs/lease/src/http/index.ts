export { LeaseProblemFilter } from './lease-problem-filter.js';
export { fenceGuard } from './fence-guard.js';
