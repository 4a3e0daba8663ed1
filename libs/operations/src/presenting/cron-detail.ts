import { z } from 'zod';
import type { CatalogEntry, CronDefinition, Generation } from '@fencepost/ledger/catalog';
import type { CronRecord } from '@fencepost/ledger';
import type { CronOverview } from '../operating/cron-overview.js';
import type { CronDeclarations } from '../operating/live-revisions.js';
import { differingParts } from '../operating/definition-change.js';
import { cronStateSchema, cronSummarySchema, presentCronSummary, type CronObservation } from './cron-summary.js';
import { describeSchedule } from './describe-schedule.js';
import { count, instant, instantOrNull, iso, ms, msOrNull, revision, textOrNull } from './values.js';

const generationSchema = z
  .strictObject({
    generation: z.int().describe('Its number.'),
    state: cronStateSchema,
    expression: z.string().describe('The expression it had.'),
    timeZone: z.string().describe('The zone it had.'),
    since: instant.describe('From when on it was effective.'),
    by: z.string().describe('The revision or the person that made it.'),
    reason: textOrNull.describe('Reason, if given.'),
    changes: z
      .array(z.strictObject({ part: z.string(), was: z.unknown(), is: z.unknown() }))
      .describe('Parts that differ from the generation before it; addresses of pings are not shown.'),
  })
  .describe('One accepted change of a cron.');

const declarationsSchema = z
  .strictObject({
    revisions: z
      .array(
        z.strictObject({
          app: z.string(),
          revision,
          pods: count.describe('How many of its pods are live.'),
          declares: z
            .enum(['same', 'differently', 'not', 'unknown'])
            .describe('Compared with the definition in force; unknown: its crons are no longer kept.'),
        }),
      )
      .describe('The live revisions of its app, the newest first, then those of other apps that declare it.'),
    undeclared: z
      .strictObject({
        since: instantOrNull.describe('When a pod that declared it was last heard; null: unknown.'),
        removedAt: instantOrNull.describe('When it will be removed unless a pod declares it; null: unknown.'),
      })
      .nullable()
      .describe('Set while no live pod of its live app declares it.'),
  })
  .describe('Which live pods declare a cron.');

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
    zoneData: z.string().describe('The version of the time zone database it was defined with.'),
    generations: z.array(generationSchema).describe('All kept generations, oldest first.'),
    declarations: declarationsSchema.nullable().describe('Which live pods declare it; null: the pods are unknown.'),
    refusals: count.describe('How many stale claims of it the ledger has refused.'),
    keys: count.describe('Idempotency keys of its jobs that are remembered.'),
    scheduleText: z.string().describe('Its schedule in words.'),
  })
  .describe('A cron in full detail.');

export type CronDetailJson = z.infer<typeof cronDetailSchema>;

/** A cron as the catalog, the ledger and whoever looked at both know it. */
export interface CronSeen {
  readonly overview: CronOverview;
  readonly entry: CatalogEntry;
  readonly record: Pick<CronRecord, 'refusals'>;
  /** How many idempotency keys the ledger remembers for it; 0 by default. */
  readonly keys?: number;
  /** `null`, the default: the pods are unknown. */
  readonly declarations?: CronDeclarations | null;
}

export function presentCronDetail(
  { overview, entry, record, keys = 0, declarations = null }: CronSeen,
  observed: CronObservation = {},
): CronDetailJson {
  const { definition, past, zoneData } = entry;
  return {
    ...presentCronSummary(overview, observed),
    ...policiesOf(definition),
    zoneData,
    generations: [...past, entry].map((one, index, all) => presentGeneration(one, all[index - 1])),
    declarations: declarations && presentDeclarations(declarations),
    refusals: record.refusals,
    keys,
    scheduleText: describeSchedule(definition),
  };
}

function presentDeclarations({ revisions, undeclared }: CronDeclarations) {
  const { since, removedAt } = undeclared ?? { since: null, removedAt: null };
  return { revisions: [...revisions], undeclared: undeclared && { since: iso(since), removedAt: iso(removedAt) } };
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

function presentGeneration(one: Generation, before: Generation | undefined) {
  const { generation, state, definition, since, by, reason } = one;
  const { expression, timeZone } = definition;
  const changes = before ? changesBetween(before, one) : [];
  return { generation, state, expression, timeZone, since: iso(since), by, reason, changes };
}

function changesBetween(before: Generation, { definition, state }: Generation) {
  const [was, is] = [before.definition, definition].map((one): Readonly<Record<string, unknown>> => ({ ...one }));
  const parts = differingParts(before, { definition, disabled: state !== 'active' });
  return parts.map((part) =>
    part === 'disabled'
      ? { part: 'state', was: before.state, is: state }
      : // An address may be as good as a password.
        {
          part,
          was: part === 'ping' ? null : (was?.[part] ?? null),
          is: part === 'ping' ? null : (is?.[part] ?? null),
        },
  );
}
