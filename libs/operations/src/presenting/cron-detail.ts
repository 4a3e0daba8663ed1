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
    reason: textOrNull.describe('Why, where somebody said so.'),
  })
  .describe('One accepted change of a cron.');

export const cronDetailSchema = cronSummarySchema
  .extend({
    misfire: z
      .enum(['skip', 'fire-once', 'fire-all'])
      .describe('What becomes of instants that nobody enqueued in time.'),
    overlap: z
      .enum(['skip', 'queue-one', 'queue-all', 'replace', 'allow'])
      .describe('What a new instant does while as many runs are open as may be.'),
    graceMs: ms.describe('Later than this counts as late.'),
    catchUpWindowMs: msOrNull.describe(
      'How far back missed instants are made up for, at least the grace; null: one period, at most a day.',
    ),
    dst: z
      .strictObject({
        gap: z.enum(['next-valid', 'skip', 'shift']).describe('A fixed time that does not exist.'),
        repeat: z.enum(['first', 'last', 'both']).describe('A fixed time that comes twice.'),
      })
      .describe('What becomes of fixed times where clocks change.'),
    spreadMs: ms.describe('Over how long crons of the same expression are spread.'),
    maxConcurrency: count.describe('How many of its runs may be open at once.'),
    startDeadlineMs: msOrNull.describe('A run that nobody has begun so long after it was due is skipped.'),
    expectEveryMs: msOrNull.describe('A success is expected at least this often; null: nobody watches for it.'),
    lateAfterMs: msOrNull.describe('A run that has not ended so long after it was due raises an alarm.'),
    handler: textOrNull.describe('Whose handler carries its runs out; null: its own.'),
    payload: z.unknown().describe('What its runs get.'),
    buildSeq: z.int().nullable().describe('The highest build that declared it; null: made at run time.'),
    source: textOrNull.describe('The program that declares it; null: made at run time.'),
    zoneData: z.string().describe('The version of the time zone database it was defined with.'),
    generations: z.array(generationSchema).describe('All that are kept, the oldest first.'),
    refusals: count.describe('How many stale claims of it the ledger has refused.'),
    description: z.string().describe('Its schedule in words.'),
  })
  .describe('A cron with everything that is defined and known of it.');

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
