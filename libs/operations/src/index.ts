export { OperationsModule } from './nest/operations.module.js';
export type { Reads } from './nest/reads.js';
export { AUDIT_TRAIL, JOURNAL, POD_REGISTRY, READS } from './nest/tokens.js';
export type { BackfillProgress, BackfillReport } from './operating/backfill-report.js';
export { CronCatalog } from './operating/cron-catalog.js';
export type { CatalogOrder, CronSettings } from './operating/cron-catalog.js';
export { CronOperator } from './operating/cron-operator.js';
export type { BackfillOrder, Resumed, TriggerOrder } from './operating/cron-operator.js';
export { overviewOf } from './operating/cron-overview.js';
export type { CronOverview } from './operating/cron-overview.js';
export type { DoctorFinding, DoctorFindingLevel, RedisFacts } from './operating/doctor-facts.js';
export { Doctor, needsCare } from './operating/doctor.js';
export type { ExplainedEffect } from './operating/explain-question.js';
export { ExplainService } from './operating/explain-service.js';
export { Forecasts } from './operating/forecast.js';
export type { Forecast, ForecastQuery } from './operating/forecast.js';
export { LeaseService, holderSeemsAlive } from './operating/lease-service.js';
export type {
  ClearOrder,
  ClearedLease,
  CronLease,
  LeaseFilter,
  LeaseList,
  WatchOptions,
} from './operating/lease-service.js';
export { LeaseMovedError } from './operating/leases-errors.js';
export type { Observation, ObservationKind, WatchMarker, WatchReport } from './operating/leases-watch.js';
export { findLostDefinitions } from './operating/lost-definitions.js';
export { readRedisFacts } from './operating/redis-facts.js';
export { RunStateError, UnknownRunError } from './operating/run-errors.js';
export { RunOperator } from './operating/run-operator.js';
export type { ResolveOrder, Resolved, RetryOrder, RunFilter } from './operating/run-operator.js';
export type { EffectReport, ItemsSummary, RunReport } from './operating/run-report.js';
export { mapInSlices } from './operating/slices.js';
export type { Outcome, Timeline, TimelineItem } from './operating/timeline-item.js';
export { Timelines } from './operating/timelines.js';
export type { TimelineQuery } from './operating/timelines.js';
export type { WhyReport, WhyStep, WhyVerdict } from './operating/why.js';
export { AuditNotWrittenError, withAudit } from './operating/with-audit.js';
export type { AuditedOrder } from './operating/with-audit.js';
export { libraryVersion } from './pods/library-version.js';
export type { PodCard, PodRegistry } from './pods/pod-registry.js';
export { RedisPodRegistry } from './pods/redis-pod-registry.js';
