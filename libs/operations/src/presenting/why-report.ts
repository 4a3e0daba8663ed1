import { z } from 'zod';
import type { WhyReport } from '../operating/why.js';
import { presentRunReport, runReportSchema } from './run-report.js';
import { instant, instantOrNull, iso, textOrNull } from './values.js';

const levelSchema = z.enum(['ok', 'note', 'warn', 'bad']).describe('Severity.');

export const doctorFindingSchema = z
  .strictObject({
    code: z.string().describe('Identifier of the check.'),
    level: levelSchema,
    subject: z.string().describe('What it is about: a pod, a cron, the store.'),
    text: z.string().describe('The finding in one sentence.'),
    todo: textOrNull.describe('What to do; null: nothing.'),
  })
  .describe('A finding about the deployment.');

const stepSchema = z
  .strictObject({
    topic: z
      .enum([
        ...(['schedule', 'generation', 'pause', 'misfire', 'overlap', 'lease'] as const),
        ...(['claim', 'enqueue', 'attempt', 'fence', 'effect', 'next'] as const),
      ])
      .describe('The part of the system it is about.'),
    at: instantOrNull.describe('When it happened, where it happened at a time.'),
    level: levelSchema,
    text: z.string().describe('One sentence.'),
  })
  .describe('One piece of evidence.');

export const whyReportSchema = z
  .strictObject({
    cron: z.string().describe('Its name.'),
    at: instant.describe('The explained instant.'),
    verdict: z.string().describe('The answer in a word, for programs.'),
    answer: z.string().describe('The answer in a sentence.'),
    steps: z.array(stepSchema).describe('The evidence, most relevant first.'),
    run: runReportSchema.nullable().describe('The run of the instant, where it has one.'),
    neighbours: z
      .strictObject({
        before: instantOrNull.describe('The last instant before it.'),
        after: instantOrNull.describe('The first instant after it.'),
      })
      .describe('The instants next to it.'),
  })
  .describe('Why a cron ran or did not run at an instant.');

export type WhyReportJson = z.infer<typeof whyReportSchema>;

export function presentWhyReport({ cron, at, verdict, answer, steps, run, neighbours }: WhyReport): WhyReportJson {
  return {
    ...{ cron, at: iso(at), verdict, answer },
    steps: steps.map((step) => ({ ...step, at: iso(step.at) })),
    run: run && presentRunReport(run),
    neighbours: { before: iso(neighbours.before), after: iso(neighbours.after) },
  };
}
