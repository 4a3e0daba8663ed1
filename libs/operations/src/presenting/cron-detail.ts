import { z } from 'zod';
import type { CatalogEntry, CronDefinition, Generation } from '@fencepost/ledger/catalog';
import type { CronRecord } from '@fencepost/ledger';
import type { CronOverview } from '../operating/cron-overview.js';
import { cronStateSchema, cronSummarySchema, presentCronSummary, type CronObservation } from './cron-summary.js';
import { describeSchedule } from './describe-schedule.js';
import { count, instant, iso, ms, msOrNull, textOrNull } from './values.js';

const generationSchema = z
  .strictObject({
    generation: z.int().describe('Its number.'),
    state: cronStateSchema,
    expression: z.string().describe('The expression it had.'),
    timeZone: z.string().describe('The zone it had.'),
    since: instant.describe('From when on it was effective.'),
    by: z.string().describe('The build or the person that made it.'),
    reason: textOrNull.describe('Reason, if given.'),
  })
  .describe('One accepted change of a cron.');

export const cronDetailSchema = cronSummarySchema
  .extend({
    misfire: z.enum(['skip', 'fire-once', 'fire-all']).describe('Policy for instants that were not enqueued in time.'),
    overlap: z
      .enum(['skip', 'queue-one', 'queue-all', 'replace', 'allow'])
      .describe('Policy when the maximum of open runs is reached.'),
    graceMs: ms.describe('Delay after which a run counts as late.'),
    catchUpWindowMs: msOrNull.describe('Catch-up window, at least the grace; null: one period, at most a day.'),
    dst: z
      .strictObject({
        gap: z.enum(['next-valid', 'skip', 'shift']).describe('Policy for a fixed time that does not exist.'),
        repeat: z.enum(['first', 'last', 'both']).describe('Policy for a fixed time that occurs twice.'),
      })
      .describe('Policies for fixed times at clock changes.'),
    spreadMs: ms.describe('Window over which crons with the same expression are spread.'),
    maxConcurrency: count.describe('Maximum of open runs.'),
    startDeadlineMs: msOrNull.describe('Skip the run if no worker has started it within this long of its due time.'),
    expectEveryMs: msOrNull.describe('Raise an alarm if no run succeeds for this long; null: none.'),
    lateAfterMs: msOrNull.describe('Raise an alarm if a run has not finished this long after its due time.'),
    handler: textOrNull.describe('Cron whose handler executes its runs; null: its own.'),
    payload: z.unknown().describe('Payload of its runs.'),
    buildSeq: z.int().nullable().describe('The highest build that declared it; null: created at run time.'),
    source: textOrNull.describe('The program that declares it; null: created at run time.'),
    zoneData: z.string().describe('The version of the time zone database it was defined with.'),
    generations: z.array(generationSchema).describe('All kept generations, oldest first.'),
    refusals: count.describe('How many stale claims of it the ledger has refused.'),
    description: z.string().describe('Its schedule in words.'),
  })
  .describe('A cron in full detail.');

export type CronDetailJson = z.infer<typeof cronDetailSchema>;

/** A cron as the catalog, the ledger and whoever looked at both know it. */
export interface CronSeen {
  readonly overview: CronOverview;
  readonly entry: CatalogEntry;
  readonly record: Pick<CronRecord, 'refusals'>;
}

export function presentCronDetail(
  { overview, entry, record }: CronSeen,
  observed: CronObservation = {},
): CronDetailJson {
  const { definition, past, buildSeq, source, zoneData } = entry;
  return {
    ...presentCronSummary(overview, observed),
    ...policiesOf(definition),
    ...{ buildSeq, source, zoneData },
    generations: [...past, entry].map(presentGeneration),
    refusals: record.refusals,
    description: describeSchedule(definition),
  };
}

function policiesOf(definition: CronDefinition) {
  const { misfire, overlap, graceMs, catchUpWindowMs, dst } = definition;
  return {
    ...{ misfire, overlap, graceMs, catchUpWindowMs },
    dst: { gap: dst?.gap ?? 'next-valid', repeat: dst?.repeat ?? 'first' },
    spreadMs: definition.spreadMs ?? 0,
    maxConcurrency: definition.maxConcurrency ?? 1,
    startDeadlineMs: definition.startDeadlineMs ?? null,
    expectEveryMs: definition.expectEveryMs ?? null,
    lateAfterMs: definition.lateAfterMs ?? null,
    handler: definition.handler ?? null,
    payload: definition.payload ?? null,
  } as const;
}

function presentGeneration({ generation, state, definition, since, by, reason }: Generation) {
  const { expression, timeZone } = definition;
  return { generation, state, expression, timeZone, since: iso(since), by, reason };
}
