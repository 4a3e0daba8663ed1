import { SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';
import { ROLES } from '@fencepost/pod';

/* What the API answers beside what the library presents. Each has a name, under which it stands in the OpenAPI document. */

const count = z.int().min(0);
const instant = z.iso.datetime({ precision: 3 });

export const youSchema = z
  .strictObject({
    name: z.string().describe('As audit records have it.'),
    role: z.enum(ROLES).describe('viewer looks, operator orders, admin also takes away.'),
    signedIn: z
      .boolean()
      .describe('By a token or a proxy; false: there are no tokens, and this is the machine itself.'),
  })
  .describe('Who asks.');

export const overviewSchema = z
  .strictObject({
    now: instant.describe('By the clock of the store.'),
    tenant: z.string(),
    prefix: z.string(),
    ledger: z.enum(['redis', 'postgres']).describe('Where runs and effects are recorded.'),
    version: z.string().describe('Of Fencepost.'),
    you: youSchema,
    crons: z.strictObject({
      total: count,
      firing: count,
      paused: count.describe('Of the firing ones.'),
      disabled: count,
      removed: count,
    }),
    uncertain: count.describe('Runs that wait for a person, counted up to 1,000.'),
    failed: count.describe('Runs that failed for good and are still remembered, counted up to 1,000.'),
    queue: z.record(z.string(), count).describe('How many jobs of the queue are in each state.'),
    pods: z.array(SCHEMAS.Pod),
  })
  .describe('The deployment at one look.');

export const cronPageSchema = z
  .strictObject({ total: count.describe('How many fit, on all pages.'), items: z.array(SCHEMAS.CronSummary) })
  .describe('One page of crons, by name.');

export const leasePageSchema = z
  .strictObject({ total: count.describe('How many fit, on all pages.'), items: z.array(SCHEMAS.Lease) })
  .describe('One page of leases, by cron.');

export const runPageSchema = SCHEMAS.RunReport.extend({
  journal: z.array(SCHEMAS.JournalEntry).describe('What pods have said about it, the newest first.'),
  logs: z
    .array(z.string())
    .describe('What its handler wrote, oldest first: time, level, attempt and fence before each line.'),
}).describe('All that is known of one run, and what was said about it.');

const listOf = (item: z.ZodType, what: string) => z.strictObject({ items: z.array(item) }).describe(what);

export const runListSchema = listOf(SCHEMAS.Run, 'Runs, the newest first.');
export const journalSchema = listOf(SCHEMAS.JournalEntry, 'Entries of the journal, the newest first.');
export const actionListSchema = listOf(SCHEMAS.OperatorAction, 'What people did to a cron, the newest first.');
export const auditListSchema = listOf(SCHEMAS.AuditRecord, 'Who changed what, the newest first.');
export const podListSchema = listOf(SCHEMAS.Pod, 'The pods that have reported lately.');
export const findingListSchema = listOf(SCHEMAS.Finding, 'What an examination found.');

export const resumedSchema = z
  .strictObject({
    ended: SCHEMAS.Pause.nullable().describe('The pause that ended by it; null: it was not paused.'),
    runId: z.string().nullable().describe('The run that stands for the paused instants, where one was asked for.'),
  })
  .describe('What became of an order to resume.');

export const startedSchema = z
  .strictObject({ runId: z.string().describe('The run that is on its way.') })
  .describe('A run that was asked for.');

export const cancelledSchema = z
  .strictObject({
    runId: z.string(),
    state: z.enum(['cancelled', 'cancelling']).describe('cancelling: its worker is told, and has until then to stop.'),
    until: instant.nullable().describe('When it is fenced out if it has not stopped.'),
  })
  .describe('What became of an order to cancel.');

export const resolvedSchema = z
  .strictObject({ runId: z.string(), state: z.string().describe('enqueued, or failed where it was given up.') })
  .describe('What became of an answer.');

export const backfillSchema = z
  .strictObject({
    cron: z.string(),
    dryRun: z.boolean(),
    instants: count.describe('How many instants the schedule has in the range.'),
    accepted: count.describe('How many of them became a run by this order.'),
    left: z.record(z.string(), count).describe('How many were left alone, by why.'),
    runIds: z.array(z.string()).describe('The first 1,000 of the accepted ones.'),
    aborted: z.boolean(),
    nextFrom: instant.nullable().describe('Where to begin to go on, when it was aborted.'),
    estimateMs: count.nullable().describe('Of a dry run: how long it takes, where that can be told.'),
  })
  .describe('What a backfill did, or would do.');

export const doneSchema = z.strictObject({ cron: z.string(), done: z.literal(true) }).describe('It is done.');

export const clearedSchema = z
  .strictObject({
    cron: z.string(),
    cleared: SCHEMAS.Lease.describe('The lease that was taken away.'),
  })
  .describe('What became of an order to clear a lease.');

export const problemSchema = z
  .strictObject({
    statusCode: z.int(),
    code: z.string().describe('Stable, for programs.'),
    message: z.string().describe('One sentence: what was expected, what came, what to do.'),
    details: z.unknown().optional(),
  })
  .describe('Why something was not done.');

/** Every name of the document, those of the library first. */
export const NAMED: Readonly<Record<string, z.ZodType>> = {
  ...SCHEMAS,
  You: youSchema,
  Overview: overviewSchema,
  CronPage: cronPageSchema,
  LeasePage: leasePageSchema,
  RunPage: runPageSchema,
  RunList: runListSchema,
  JournalList: journalSchema,
  ActionList: actionListSchema,
  AuditList: auditListSchema,
  PodList: podListSchema,
  FindingList: findingListSchema,
  Resumed: resumedSchema,
  Started: startedSchema,
  Cancelled: cancelledSchema,
  Resolved: resolvedSchema,
  Backfill: backfillSchema,
  Done: doneSchema,
  Cleared: clearedSchema,
  Problem: problemSchema,
};
