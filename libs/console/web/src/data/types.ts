import type { Answers } from '@fencepost/client';

/* What the API answers, by the names this page has for it. */

export type AuditRecord = Answers['AuditRecord'];
export type BackfillReport = Answers['Backfill'];
export type CronChange = Answers['CronChange'];
export type Delivery = Answers['Delivery'];
export type CronDetail = Answers['CronDetail'];
export type CronSummary = Answers['CronSummary'];
export type DoctorFinding = Answers['Finding'];
export type JournalEntry = Answers['JournalEntry'];
export type Lease = Answers['Lease'];
export type Mute = Answers['Mute'];
export type OwnLease = Answers['OwnLease'];
export type Forecast = Answers['Forecast'];
export type Overview = Answers['Overview'];
export type Pod = Answers['Pod'];
export type RunBatch = Answers['RunBatch'];
export type Receiver = Answers['Receiver'];
export type Run = Answers['Run'];
export type RunReport = Answers['RunPage'];
export type Timeline = Answers['Timeline'];
export type TimelineItem = Answers['TimelineItem'];
export type Triage = Answers['Triage'];
export type Watch = Answers['Watch'];
export type WhyReport = Answers['WhyReport'];
export type You = Answers['You'];

export type Attempt = RunReport['attempts'][number];
export type Effect = RunReport['effects'][number];
export type FailureGroup = Answers['Failures']['items'][number];
export type Generation = CronDetail['generations'][number];
export type Items = RunReport['items'][string];
export type Level = DoctorFinding['level'];
export type Outcome = TimelineItem['outcome'];
export type Role = You['role'];
