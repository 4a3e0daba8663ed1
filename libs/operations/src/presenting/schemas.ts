import { auditRecordSchema } from './audit-record.js';
import { cronDetailSchema } from './cron-detail.js';
import { cronSummarySchema, pauseSchema } from './cron-summary.js';
import { doctorFindingSchema, whyReportSchema } from './why-report.js';
import { journalEntrySchema } from './journal-entry.js';
import { heldLeaseSchema, leaseSchema, ownLeaseSchema, watchSchema } from './lease.js';
import { dueAtSchema, forecastSchema } from './forecast.js';
import { muteSchema } from './mute.js';
import { podListSchema, podSchema } from './pod.js';
import { deliverySchema, receiverSchema } from './receiver.js';
import { runReportSchema } from './run-report.js';
import { runSchema } from './run.js';
import { triageSchema } from './triage.js';
import { timelineItemSchema, timelineSchema } from './timeline.js';

/** Every kind of answer by its name: what an API describes itself with, and what its clients can check. */
export const SCHEMAS = {
  AuditRecord: auditRecordSchema,
  CronDetail: cronDetailSchema,
  CronSummary: cronSummarySchema,
  Delivery: deliverySchema,
  Finding: doctorFindingSchema,
  HeldLease: heldLeaseSchema,
  JournalEntry: journalEntrySchema,
  Lease: leaseSchema,
  Mute: muteSchema,
  OwnLease: ownLeaseSchema,
  DueAt: dueAtSchema,
  Forecast: forecastSchema,
  Pause: pauseSchema,
  Pod: podSchema,
  PodList: podListSchema,
  Receiver: receiverSchema,
  Run: runSchema,
  RunReport: runReportSchema,
  Timeline: timelineSchema,
  TimelineItem: timelineItemSchema,
  Triage: triageSchema,
  Watch: watchSchema,
  WhyReport: whyReportSchema,
};
