/* What the console, the command line and the pods of this repository need of operations. Not public: it may change without notice. */

export { Mutes } from './alarms/mutes.js';
export { Receivers } from './alarms/receivers.js';
export { journalOfRun } from './journal/run-entries.js';
export type { Reads } from './nest/reads.js';
export { openAlarmStore } from './nest/definition-stores.js';
export { POD_REGISTRY, READS } from './nest/tokens.js';
export { InvalidCronsError } from './operating/checked-crons.js';
export { importLines, lineOf, readCronLines } from './operating/cron-lines.js';
export type { CronLines } from './operating/cron-lines.js';
export type { ManyProgress, ManyReport, RecordPart } from './operating/many-crons.js';
export { CatalogView } from './operating/catalog-view.js';
export {
  differingParts,
  exportedCron,
  instantDifference,
  instantsOf,
  settingsOf,
} from './operating/definition-change.js';
export type { InstantDifference, Only } from './operating/definition-change.js';
export { needsCare } from './operating/doctor.js';
export { holderSeemsAlive } from './operating/lease-service.js';
export { DuplicateWatch } from './operating/leases-watch.js';
export type { WatchReport } from './operating/leases-watch.js';
export { OwnLeaseWatch } from './operating/own-leases-watch.js';
export { findLostDefinitions } from './operating/lost-definitions.js';
export { ORDER_RECORDS } from './operating/order-records.js';
export { readRedisFacts } from './operating/redis-facts.js';
export { neighboursOf } from './operating/run-neighbours.js';
export { RunSearch } from './operating/run-search.js';
export { mapInSlices } from './operating/slices.js';
export { withAudit } from './operating/with-audit.js';
export type { AuditedOrder } from './operating/with-audit.js';
export { libraryVersion } from './pods/library-version.js';
export type { PodRegistry } from './pods/pod-registry.js';
export { RedisPodRegistry } from './pods/redis-pod-registry.js';
export { CronDirectory } from './presenting/cron-directory.js';
