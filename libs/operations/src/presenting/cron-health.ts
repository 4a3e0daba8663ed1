import { z } from 'zod';
import { HEALTH_STATES, type CronHealth } from '../operating/health-of.js';
import type { CronHistory, CronMark } from '../operating/cron-history.js';
import { outcomeSchema } from './timeline.js';
import { count, instant, instantOrNull, iso, ms, msOrNull, textOrNull } from './values.js';

export const healthStateSchema = z
  .enum(HEALTH_STATES)
  .describe('State of a cron, the worst first; unknown: its history has not been read yet.');

export const healthSchema = z
  .strictObject({
    state: healthStateSchema,
    since: instantOrNull.describe('Since when; null: not known.'),
    failures: count.nullable().describe('Failed runs in a row up to now; null: not known.'),
    text: z.string().describe('The state in a few words.'),
  })
  .describe('Whether a cron needs a person.');

export const marksSchema = z
  .array(
    z
      .strictObject({
        at: instant.describe('The nominal instant; of a range of skips the last one.'),
        outcome: outcomeSchema,
        runId: textOrNull.describe('Its run; null for a range of skips.'),
        tookMs: msOrNull.describe('How long it took.'),
        lateByMs: msOrNull.describe('How much later than due it began; null for a manual or backfilled run.'),
        asked: z.enum(['manual', 'backfill']).nullable().describe('Set if the schedule did not ask for the run.'),
      })
      .describe('A run or a skip.'),
  )
  .nullable()
  .describe('The newest 30 runs and skips, oldest first; null: not read yet.');

export const durationSchema = z
  .strictObject({ p50Ms: ms.describe('Median.'), p95Ms: ms.describe('95th percentile.') })
  .nullable()
  .describe('Durations of the succeeded runs among the marks; null: none, or not read yet.');

export type HealthJson = z.infer<typeof healthSchema>;

export function presentHealth({ state, since, failures, text }: CronHealth): HealthJson {
  return { state, since: iso(since), failures, text };
}

export function presentHistory(history: CronHistory | null) {
  return {
    marks: history && history.marks.map(presentMark),
    duration: history?.duration ?? null,
    startDelayP95Ms: history?.startDelayP95Ms ?? null,
  };
}

function presentMark({ at, outcome, runId, tookMs, lateByMs, asked }: CronMark) {
  return { at: iso(at), outcome, runId, tookMs, lateByMs, asked };
}
