import { SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';

/* What the API answers about runs. */

const count = z.int().min(0);
const instant = z.iso.datetime({ precision: 3 });
const text = z.string().nullable();

const attemptSchema = z
  .strictObject({
    number: count.describe('Its number; of several without any record, the last one.'),
    first: count.describe('The first of those that this stands for; else its number.'),
    beganAt: instant.nullable().describe('When it began, as far as recorded.'),
    endedAt: instant.nullable().describe('When it ended, as far as recorded.'),
    tookMs: z.number().nullable().describe('How long it took, as far as recorded.'),
    worker: text.describe('Its worker.'),
    fence: text.describe('Its fence.'),
    end: z
      .enum([
        ...(['succeeded', 'failed', 'cancelled', 'uncertain', 'refused', 'aborted'] as const),
        ...(['open', 'unrecorded', 'lost'] as const),
      ])
      .describe('How it ended; unrecorded: unknown, lost: nothing at all is known of it.'),
    why: text.describe('Its error, or why it was aborted.'),
    stack: text.describe(
      'Stack of its error with the causes, while the job is kept: 24 hours, of the newest 1,000 jobs.',
    ),
    refusals: z.array(z.string()).describe('Journal entries of its refused writes, by id.'),
  })
  .describe('One attempt of a run.');

const neighboursSchema = z
  .strictObject({
    previous: text.describe('The run before it.'),
    next: text.describe('The run after it.'),
    previousSuccess: text.describe('The latest run before it that succeeded.'),
  })
  .describe('Runs of the same cron beside it; null where none was found.');

export const runPageSchema = SCHEMAS.RunReport.extend({
  journal: z.array(SCHEMAS.JournalEntry).describe('Journal entries about it, newest first.'),
  logs: z
    .array(z.string())
    .describe('Log lines of its handler, oldest first, each with time, level, attempt and fence.'),
  attempts: z.array(attemptSchema).describe('Newest first, from its record, the journal and the log.'),
  neighbours: neighboursSchema,
}).describe('A run in full detail, with its journal entries.');

const complete = z.boolean().describe('false: only the newest runs of each cron were looked at.');

export const foundRunsSchema = z
  .strictObject({
    items: z.array(SCHEMAS.Run),
    next: z.string().nullable().describe('"cursor" of the next page; null: this is the last.'),
    complete,
  })
  .describe('Runs of all crons, those that changed last first.');

const failureSchema = z
  .strictObject({
    fingerprint: z.string().describe('Hash of the error without ids, numbers and quoted parts.'),
    error: z.string().describe('The newest of the errors.'),
    count,
    complete: z.boolean().describe('false: older ones were not read, so count and firstAt are those of the newest.'),
    crons: z.array(z.string()).describe('By name.'),
    firstAt: instant.describe('When the first of them ended.'),
    lastAt: instant.describe('When the last of them ended.'),
    runIds: z.array(z.string()).max(100).describe('The newest 100.'),
  })
  .describe('Runs that failed in the same way.');

export const failuresSchema = z
  .strictObject({ items: z.array(failureSchema), complete })
  .describe('Failed runs by their error, the most frequent first.');

export const runBatchSchema = z
  .strictObject({
    order: z.enum(['retry', 'cancel', 'resolve']),
    done: z.array(z.string()).describe('Ids of the runs that it was carried out for.'),
    failed: z
      .array(z.strictObject({ runId: z.string(), code: z.string(), detail: z.string() }))
      .describe('Runs that it was not carried out for, and why.'),
  })
  .describe('Result of an order to several runs.');
