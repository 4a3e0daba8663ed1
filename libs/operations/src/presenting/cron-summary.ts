import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import { z } from 'zod';
import { isManual } from '@fencepost/schedule';
import type { CronOverview } from '../operating/cron-overview.js';
import type { CronHealth } from '../operating/health-of.js';
import type { CronHistory } from '../operating/cron-history.js';
import { durationSchema, healthSchema, marksSchema, presentHealth, presentHistory } from './cron-health.js';
import { presentRun, runSchema } from './run.js';
import {
  count,
  fenceOrNull,
  fenceText,
  instant,
  instantOrNull,
  iso,
  msOrNull,
  revisionOrNull,
  textOrNull,
} from './values.js';
import type { Pause } from '@fencepost/ledger/run';

export const pauseSchema = z
  .strictObject({
    since: instant.describe('When the cron was paused.'),
    until: instantOrNull.describe('When the pause ends by itself; null: until somebody resumes the cron.'),
    by: z.string().describe('Who paused it.'),
    reason: z.string().describe('Why.'),
  })
  .describe('A pause of a cron.');

type PauseJson = z.infer<typeof pauseSchema>;

export function presentPause({ since, until, by, reason }: Pause): PauseJson {
  return { since: iso(since), until: iso(until), by, reason };
}

export const cronStateSchema = z
  .enum(['active', 'disabled', 'removed'])
  .describe('disabled: in its declaration; removed: no live pod declared it, or an operator removed it.');

export const cronSummarySchema = z
  .strictObject({
    name: z.string().describe('Its name.'),
    expression: z.string().describe('Its cron expression.'),
    timeZone: z.string().describe('The IANA time zone it goes by.'),
    state: cronStateSchema,
    manual: z.boolean().describe('It has no instants and runs only on request.'),
    paused: pauseSchema.nullable(),
    generation: z.int().describe('The newest generation of its definition.'),
    since: instant.describe('From when on that generation is effective.'),
    next: instantOrNull.describe('The next nominal instant; null for one that does not fire.'),
    cursor: instantOrNull.describe('Every instant up to here has a run or a recorded reason why not.'),
    last: runSchema.nullable().describe('Its newest run, skipped ones included.'),
    holder: textOrNull.describe('Holder of its lease: label and the first characters of its identity.'),
    fence: fenceOrNull.describe('The fence of that lease.'),
    leaseLeftMs: msOrNull.describe('Remaining time of that lease without renewal.'),
    waiting: textOrNull.describe('Why its newest run has not started, if known.'),
    uncertain: count.describe('Number of its uncertain runs.'),
    app: textOrNull.describe('The app that declares it; null: created at run time.'),
    revision: revisionOrNull.describe(
      'The revision in force; null: created at run time, or declared by a former release.',
    ),
    tags: z.array(z.string()).describe('Its tags, in order.'),
    description: textOrNull.describe('What it is for, in one paragraph.'),
    owner: textOrNull.describe('The team or person to turn to.'),
    runbookUrl: textOrNull.describe('What to do when it fails: an http or https address.'),
    health: healthSchema,
    marks: marksSchema,
    duration: durationSchema,
    startDelayP95Ms: msOrNull.describe('95th percentile of how much later than due scheduled runs began; null: none.'),
  })
  .describe('Summary of a cron.');

export type CronSummaryJson = z.infer<typeof cronSummarySchema>;

/** What an overview doesn't know of a cron, as far as somebody asked. */
export interface CronObservation {
  /** Who holds its lease; `null` for nobody, which is the default. */
  readonly lease?: Holding | null;
  /** How many of its runs wait for an operator; 0 by default. */
  readonly uncertain?: number;
  /** By default not known. */
  readonly health?: CronHealth;
  /** `null`, the default: not read. */
  readonly history?: CronHistory | null;
}

const NOT_KNOWN: CronHealth = { state: 'unknown', since: null, failures: null, text: 'history not read yet' };

export function presentCronSummary(overview: CronOverview, observed: CronObservation = {}): CronSummaryJson {
  const { name, expression, timeZone, state, paused, generation, since, next, cursor, last } = overview;
  const { app, revision, tags, description, owner, runbookUrl } = overview;
  const { lease = null, uncertain = 0, health = NOT_KNOWN, history = null } = observed;
  return {
    ...{ name, expression, timeZone, state, manual: isManual(expression) },
    paused: paused && presentPause(paused),
    ...{ generation, since: iso(since), next: iso(next), cursor: iso(cursor) },
    last: last && presentRun(last),
    holder: lease && ownerPrefix(lease.holder),
    fence: fenceText(lease && lease.fence),
    leaseLeftMs: lease && lease.remainingMs,
    waiting: last?.waiting ?? null,
    ...{ uncertain, app, revision, tags: [...tags], description, owner, runbookUrl },
    health: presentHealth(health),
    ...presentHistory(history),
  };
}
