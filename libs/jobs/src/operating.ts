/* What a program needs that looks at crons and changes them, and is no pod: no Nest in here. */

export { CronCatalog } from './operating/cron-catalog.js';
export type { CatalogOrder, CronSettings } from './operating/cron-catalog.js';
export { CronOperator } from './operating/cron-operator.js';
export type {
  BackfillOrder,
  BackfillProgress,
  BackfillReport,
  CronOperatorPorts,
  CronOverview,
  Resumed,
  TriggerOrder,
} from './operating/cron-operator.js';
export { RunOperator } from './operating/run-operator.js';
export type { ResolveOrder, Resolved, RetryOrder, RunFilter, RunOperatorPorts } from './operating/run-operator.js';
export type { EffectReport, ItemsSummary, RunReport } from './operating/run-report.js';
export type { ExplainedEffect } from './operating/explain-question.js';
export { RunStateError, UnknownRunError } from './operating/run-errors.js';
export { Jobs } from './operating/jobs.js';
export type { Enqueued, EnqueueOptions, JobItem, JobsPorts } from './operating/jobs.js';
export { IdempotencyKeyError } from './operating/job-errors.js';
export { overviewOf } from './operating/cron-overview.js';
export { knownCron } from './operating/known-cron.js';
export type { KnownCron } from './operating/known-cron.js';
export { CatalogMovedError, UnknownCronError } from './operating/errors.js';

export { isStoreError } from './telemetry/store-error.js';

export { SCHEMAS } from './presenting/schemas.js';
export { presentAuditRecord } from './presenting/audit-record.js';
export type { AuditRecordJson } from './presenting/audit-record.js';
export { presentCronDetail } from './presenting/cron-detail.js';
export type { CronDetailJson, CronSeen } from './presenting/cron-detail.js';
export { presentCronSummary } from './presenting/cron-summary.js';
export type { CronObservation, CronSummaryJson } from './presenting/cron-summary.js';
export type { DoctorFindingJson } from './presenting/finding.js';
export { presentJournalEntry } from './presenting/journal-entry.js';
export type { JournalEntryJson } from './presenting/journal-entry.js';
export { presentLease } from './presenting/lease.js';
export type { LeaseJson } from './presenting/lease.js';
export { presentOperatorAction } from './presenting/operator-action.js';
export type { OperatorActionJson } from './presenting/operator-action.js';
export { presentForecast } from './presenting/forecast.js';
export type { ForecastJson } from './presenting/forecast.js';
export { presentPause } from './presenting/pause.js';
export type { PauseJson } from './presenting/pause.js';
export { presentPod } from './presenting/pod.js';
export type { PodJson } from './presenting/pod.js';
export { presentRunReport } from './presenting/run-report.js';
export type { RunReportJson } from './presenting/run-report.js';
export { lateBy, presentRun } from './presenting/run.js';
export type { RunJson } from './presenting/run.js';
export { presentTimeline } from './presenting/timeline.js';
export type { TimelineItemJson, TimelineJson } from './presenting/timeline.js';
export { presentWhyReport } from './presenting/why-report.js';
export type { WhyReportJson, WhyStepJson } from './presenting/why-report.js';
export { Forecasts } from './operating/forecast.js';
export type { Forecast, ForecastQuery } from './operating/forecast.js';
export type { Outcome, Timeline, TimelineItem } from './operating/timeline-item.js';
export { Timelines } from './operating/timelines.js';
export type { TimelineQuery, TimelinesPorts } from './operating/timelines.js';
export { ExplainService } from './operating/explain-service.js';
export type { WhyPorts } from './operating/explain-service.js';
export type { WhyReport, WhyStep, WhyVerdict } from './operating/why.js';

export { AuditNotWrittenError, withAudit } from './operating/with-audit.js';
export type { AuditedOrder } from './operating/with-audit.js';

export { isJournalId } from './journal/journal-id.js';
export { JournalFeed } from './journal/journal-feed.js';
export type { JournalFeedDeps, JournalListener } from './journal/journal-feed.js';
export { MAX_READ } from './journal/journal.js';
export type { Journal, JournalEntry, JournalLimits, JournalQuery, NewJournalEntry } from './journal/journal.js';
export { RedisJournal } from './journal/redis-journal.js';
export type { RedisJournalOptions } from './journal/redis-journal.js';
export { libraryVersion } from './pods/library-version.js';
export { POD_GONE_MS, REPORT_MS } from './pods/pod-registry.js';
export type { NewPodCard, PodCard, PodRegistry } from './pods/pod-registry.js';
export { RedisPodRegistry } from './pods/redis-pod-registry.js';
export type { RedisPodRegistryOptions } from './pods/redis-pod-registry.js';

export { Doctor, needsCare } from './operating/doctor.js';
export type { DoctorPorts } from './operating/doctor.js';
export type { DoctorFinding, DoctorFindingLevel, RedisFacts } from './operating/doctor-facts.js';
export { findLostDefinitions } from './operating/lost-definitions.js';
export { readRedisFacts } from './operating/redis-facts.js';

export { holderSeemsAlive, LeaseService } from './operating/lease-service.js';
export type {
  ClearedLease,
  ClearOrder,
  CronLease,
  LeaseServicePorts,
  LeaseFilter,
  LeaseList,
  WatchOptions,
} from './operating/lease-service.js';
export { LeaseMovedError } from './operating/leases-errors.js';
export type { Observation, ObservationKind, WatchMarker, WatchReport } from './operating/leases-watch.js';

export { audit } from './audit/audit.js';
export type { AuditReport, AuditFinding, AuditFindingKind, NotCovered } from './audit/audit.js';

export type { Membership } from './scheduling/membership.js';
export { RedisMembership } from './scheduling/redis-membership.js';
export type { RunQueue } from './scheduling/run-queue.js';
export { BullmqRunQueue } from './scheduling/bullmq-run-queue.js';

export { EVENT_TEXT, eventSentence } from './telemetry/events.js';
export type { EventLevel, EventName, Events } from './telemetry/events.js';
export { Telemetry } from './telemetry/telemetry.js';
