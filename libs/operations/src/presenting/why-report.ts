import { z } from 'zod';
import { levelSchema } from './finding.js';
import type { WhyReport } from '../operating/why.js';
import { presentRunReport, runReportSchema } from './run-report.js';
import { instant, instantOrNull, iso } from './values.js';

const stepSchema = z
  .strictObject({
    topic: z
      .enum([
        ...(['schedule', 'generation', 'pause', 'misfire', 'overlap', 'lease'] as const),
        ...(['claim', 'enqueue', 'attempt', 'fence', 'effect', 'next'] as const),
      ])
      .describe('Which part of the machinery it is about.'),
    at: instantOrNull.describe('When it happened, where it happened at a time.'),
    level: levelSchema,
    text: z.string().describe('One sentence.'),
  })
  .describe('One thing that is known about the instant.');

export const whyReportSchema = z
  .strictObject({
    cron: z.string().describe('Its name.'),
    at: instant.describe('The instant that was asked about.'),
    verdict: z.string().describe('The answer in a word, for programs.'),
    answer: z.string().describe('The answer in a sentence.'),
    steps: z.array(stepSchema).describe('What is known, in the order in which it matters.'),
    run: runReportSchema.nullable().describe('The run of the instant, where it has one.'),
    neighbours: z
      .strictObject({
        before: instantOrNull.describe('The last instant before it.'),
        after: instantOrNull.describe('The first instant after it.'),
      })
      .describe('The instants next to it.'),
  })
  .describe('Why a cron ran at an instant, or why it did not.');

export type WhyStepJson = z.infer<typeof stepSchema>;
export type WhyReportJson = z.infer<typeof whyReportSchema>;

export function presentWhyReport({ cron, at, verdict, answer, steps, run, neighbours }: WhyReport): WhyReportJson {
  return {
    ...{ cron, at: iso(at), verdict, answer },
    steps: steps.map((step) => ({ ...step, at: iso(step.at) })),
    run: run && presentRunReport(run),
    neighbours: { before: iso(neighbours.before), after: iso(neighbours.after) },
  };
}
