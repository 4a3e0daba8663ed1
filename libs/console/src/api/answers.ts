import { SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';
import { ROLES } from '@fencepost/operations/access-tokens';
import { cronChangeSchema } from './cron-change.js';
import { failuresSchema, foundRunsSchema, runBatchSchema, runPageSchema } from './run-answers.js';

/* What the API answers beside what the library presents. Each has a name, under which it stands in the OpenAPI document. */

const count = z.int().min(0);
const instant = z.iso.datetime({ precision: 3 });
const next = z.string().nullable().describe('"cursor" of the next page; null: this is the last one.');
export const youSchema = z
  .strictObject({
    name: z.string().describe('As audit records have it.'),
    role: z.enum(ROLES).describe('viewer reads, operator gives orders, admin also removes and clears.'),
    signedIn: z.boolean().describe('By a token or a proxy; false: no tokens are set, and the caller is local.'),
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
      active: count,
      paused: count.describe('Of the active ones.'),
      disabled: count,
      removed: count,
    }),
    uncertain: count.describe('Uncertain runs, counted up to 1,000.'),
    failed: count.describe('Failed runs still on record, counted up to 1,000.'),
    failedComplete: z.boolean().describe('false: there are more failed runs than were counted.'),
    queue: z.record(z.string(), count).describe('How many jobs of the queue are in each state.'),
    pods: z.array(SCHEMAS.Pod),
    unreported: SCHEMAS.PodList.shape.unreported,
  })
  .describe('Summary of the deployment.');

export const cronPageSchema = z
  .strictObject({
    total: count.describe('Matches on all pages.'),
    items: z.array(SCHEMAS.CronSummary),
    next: z.string().nullable().describe('"cursor" of the next page; null: this is the last one.'),
    unreadable: z
      .array(z.strictObject({ name: z.string(), reason: z.string().describe('What is wrong with it, in a sentence.') }))
      .describe('Crons whose record is invalid, so that they do not fire; whatever the filter.'),
  })
  .describe('One page of crons.');

export const leasePageSchema = z
  .strictObject({
    total: count.describe('Matches on all pages.'),
    items: z.array(SCHEMAS.HeldLease),
    next,
    free: z
      .array(z.string())
      .describe('Active crons without a holder, the first 1,000; empty with a filter for holders.'),
  })
  .describe('One page of leases, by cron.');

export const ownLeasePageSchema = z
  .strictObject({
    items: z.array(SCHEMAS.OwnLease),
    next: z
      .string()
      .nullable()
      .describe('"cursor" of the next page; null: this is the last one. A page may be empty though more follow.'),
  })
  .describe('Leases that are no cron’s, about a page at a time.');

const listOf = (item: z.ZodType, what: string) => z.strictObject({ items: z.array(item) }).describe(what);
const pageOf = (item: z.ZodType, what: string) => z.strictObject({ items: z.array(item), next }).describe(what);

export const cronRunsSchema = pageOf(SCHEMAS.Run, 'Runs of a cron, newest first; the pages end with the latest 1,000.');
export const journalSchema = pageOf(SCHEMAS.JournalEntry, 'Journal entries, newest first.');
export const auditListSchema = pageOf(SCHEMAS.AuditRecord, 'Audit records, newest first.');
export const findingListSchema = listOf(SCHEMAS.Finding, 'Findings of the doctor.');

export const resumedSchema = z
  .strictObject({
    ended: SCHEMAS.Pause.nullable().describe('The ended pause; null: it was not paused.'),
    runId: z.string().nullable().describe('The run that covers the paused instants, if requested.'),
  })
  .describe('Result of resuming a cron.');

export const startedSchema = z
  .strictObject({ runId: z.string().describe('The enqueued run.') })
  .describe('A triggered run.');

export const bulkSchema = z
  .strictObject({
    order: z.enum(['pause', 'resume', 'trigger']),
    dryRun: z.boolean(),
    crons: z.array(z.string()).describe('All that were meant, by name.'),
    done: z.array(z.string()).describe('Those for which it was done.'),
    failed: z
      .array(z.strictObject({ cron: z.string(), code: z.string(), detail: z.string().describe('Why not.') }))
      .describe('Those for which it was not done.'),
  })
  .describe('Result or preview of an order to many crons.');

const number = z.int().min(0);

export const importSchema = z
  .strictObject({
    dryRun: z.boolean(),
    total: number.describe('How many crons were sent.'),
    asked: number.describe('How many of them were decided, from the first on.'),
    created: number.describe('How many had never been there.'),
    changed: number.describe('How many were changed, or came back.'),
    unchanged: number.describe('How many were as given already.'),
    failed: number.describe('How many were refused.'),
    problems: z
      .array(z.strictObject({ line: number, cron: z.string().nullable(), code: z.string(), detail: z.string() }))
      .describe('Why, the first 1,000.'),
    stopped: z
      .strictObject({ code: z.enum(['ABORTED', 'CATALOG_FULL']), detail: z.string() })
      .nullable()
      .describe('Why it ended before the last line; the same import again goes on.'),
  })
  .describe('Result or preview of an import.');

export const cancelledSchema = z
  .strictObject({
    runId: z.string(),
    state: z
      .enum(['cancelled', 'cancelling'])
      .describe('cancelling: its worker is signalled and has until then to stop.'),
    until: instant.nullable().describe('When its writes begin to be refused.'),
  })
  .describe('Result of cancelling a run.');

export const resolvedSchema = z
  .strictObject({ runId: z.string(), state: z.string().describe('enqueued, or failed if given up.') })
  .describe('Result of resolving an effect.');

export const backfillSchema = z
  .strictObject({
    cron: z.string(),
    dryRun: z.boolean(),
    instants: count.describe('How many instants the schedule has in the range.'),
    accepted: count.describe('How many of them became runs.'),
    left: z.record(z.string(), count).describe('How many were not repeated, by reason.'),
    runIds: z.array(z.string()).describe('The first 1,000 of the accepted ones.'),
    aborted: z.boolean(),
    nextFrom: instant.nullable().describe('Where to continue, if it was aborted.'),
    open: z.array(z.string()).describe('Accepted runs for which the next batch would have waited.'),
    estimateMs: count.nullable().describe('Dry run: estimated duration, if known.'),
  })
  .describe('Result or preview of a backfill.');

export const removedSchema = z
  .strictObject({
    cron: z.string(),
    done: z.literal(true),
    declaredBy: z
      .string()
      .nullable()
      .describe('The app that declared it: a pod that declares it again brings it back. null: created at run time.'),
  })
  .describe('A removed cron.');

export const clearedSchema = z
  .strictObject({
    cron: z.string(),
    cleared: SCHEMAS.Lease.describe('The cleared lease.'),
    next: SCHEMAS.Lease.nullable().describe('The lease right after that, if a pod was so quick.'),
    marker: z
      .strictObject({ at: instant, refusals: count, ledgerAt: instant })
      .describe('Where to begin to watch for duplicates.'),
  })
  .describe('Result of clearing a lease.');

export const ownClearedSchema = z
  .strictObject({
    cleared: SCHEMAS.OwnLease.describe('The cleared lease.'),
    next: SCHEMAS.OwnLease.nullable().describe('The next holder, if it was so quick.'),
  })
  .describe('Result of clearing a lease that is no cron’s.');

export const problemSchema = z
  .looseObject({
    type: z.url().describe('Stable address of a page about this type of problem.'),
    title: z.string().describe('What type of problem it is; stable.'),
    status: z.int().min(400).max(599),
    detail: z.string().describe('One sentence: what happened and what to do.'),
    code: z.string().describe('Stable, for programs. Refusals have the state that they were refused for beside it.'),
  })
  .describe('Why a request failed, as RFC 9457 has it.');

/** Every name of the document, those of the library first. */
export const NAMED: Readonly<Record<string, z.ZodType>> = {
  ...SCHEMAS,
  You: youSchema,
  Overview: overviewSchema,
  CronPage: cronPageSchema,
  LeasePage: leasePageSchema,
  OwnLeasePage: ownLeasePageSchema,
  RunPage: runPageSchema,
  CronRuns: cronRunsSchema,
  FoundRuns: foundRunsSchema,
  Failures: failuresSchema,
  RunBatch: runBatchSchema,
  CronChange: cronChangeSchema,
  JournalList: journalSchema,
  AuditList: auditListSchema,
  FindingList: findingListSchema,
  Resumed: resumedSchema,
  Started: startedSchema,
  BulkResult: bulkSchema,
  Imported: importSchema,
  Cancelled: cancelledSchema,
  Resolved: resolvedSchema,
  Backfill: backfillSchema,
  Removed: removedSchema,
  Cleared: clearedSchema,
  OwnCleared: ownClearedSchema,
  Problem: problemSchema,
};
