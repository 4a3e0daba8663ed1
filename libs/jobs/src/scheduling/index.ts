/* What the other packages of this repository need of a scheduler. Not public: it may change without notice. A worker never loads it. */

export { Dispatcher } from './dispatcher.js';
export { claimRequest } from './due-calculator.js';
export { DueSlices } from './due-slices.js';
export { holdCron } from './held-cron.js';
export type { HeldCron } from './held-cron.js';
export { inGroups } from './in-groups.js';
export { MemoryMembership } from '../membership/memory-membership.js';
export { MemoryPodRegistry } from '../pods/memory-pod-registry.js';
export { assignBound, candidates, firstOf, firstTwoOf, hashOf, isBound } from './rendezvous.js';
export { SchedulerPod } from './scheduler-pod.js';
