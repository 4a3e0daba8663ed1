export { PROBLEM_JSON, problemDetails } from '../base/problem-details.js';
export { LeaseProblemFilter } from './lease-problem-filter.js';
export { fenceGuard } from './fence-guard.js';
