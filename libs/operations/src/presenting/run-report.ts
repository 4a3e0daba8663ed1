import { z } from 'zod';
import type { EffectReport, ItemsSummary, RunReport } from '../operating/run-report.js';
import { presentRun, unresolvedEffectSchema, runSchema } from './run.js';
import { count, fence, fenceText, instant, instantOrNull, iso, textOrNull } from './values.js';

const effectSchema = z
  .strictObject({
    name: z.string().describe('Its name within the run.'),
    state: z.enum(['begun', 'done', 'failed']).describe('As it is recorded.'),
    unknown: z.boolean().describe('Begun, but its worker died: nobody knows whether it happened.'),
    since: instant.describe('When it was begun, the first time since it last failed.'),
    finishedAt: instantOrNull.describe('When it ended.'),
    fence: fence.describe('The fence of the attempt that ended it, else of the one that began it first.'),
    result: z.unknown().describe('Its result, once done.'),
    error: textOrNull.describe('Its error.'),
    payloadHash: textOrNull.describe('Hash of its payload, if the handler gives one.'),
  })
  .describe('A named side effect of a run, and its outcome.');

const itemSchema = z
  .strictObject({
    key: z.string().describe('The key of the item.'),
    state: z.enum(['begun', 'done', 'failed']).describe('As it is recorded.'),
    error: textOrNull.describe('Its error.'),
    since: instant.describe('When it was begun first since it last failed.'),
  })
  .describe('One item of a forEach.');

const itemsSchema = z
  .strictObject({
    done: count.describe('Items that are done.'),
    failed: count.describe('Items that failed.'),
    begun: count.describe('Items that were begun and have not ended.'),
    open: z.array(itemSchema).describe('The first 100 that are not done.'),
  })
  .describe('Progress of a forEach.');

const explainedEffectSchema = unresolvedEffectSchema
  .extend({
    idempotencyKey: z.string().describe('Idempotency key sent to the system it changes.'),
    why: z.string().describe('Why the outcome is unknown, in one sentence.'),
    advice: z.string().describe('Where to check, and how to answer.'),
  })
  .describe('The unresolved effect of an uncertain run, with what an operator needs to resolve it.');

export const runReportSchema = z
  .strictObject({
    run: runSchema,
    effects: z.array(effectSchema).describe('In the order they were begun.'),
    items: z.record(z.string(), itemsSchema).describe('By the name of the forEach.'),
    unresolvedEffect: explainedEffectSchema.nullable().describe('While the run is uncertain.'),
  })
  .describe('A run in full detail.');

export type RunReportJson = z.infer<typeof runReportSchema>;

export function presentRunReport({ run, effects, items, unresolvedEffect }: RunReport): RunReportJson {
  return {
    run: presentRun(run),
    effects: effects.map(presentEffect),
    items: Object.fromEntries(Object.entries(items).map(([name, summary]) => [name, presentItems(summary)])),
    unresolvedEffect: unresolvedEffect && { ...unresolvedEffect, since: iso(unresolvedEffect.since) },
  };
}

function presentEffect(effect: EffectReport): z.infer<typeof effectSchema> {
  return {
    ...effect,
    since: iso(effect.since),
    finishedAt: iso(effect.finishedAt),
    fence: fenceText(effect.fence),
  };
}

function presentItems({ open, ...counts }: ItemsSummary): z.infer<typeof itemsSchema> {
  return { ...counts, open: open.map((item) => ({ ...item, since: iso(item.since) })) };
}
