import { CRON_TEXTS } from '@fencepost/ledger/catalog';
import { CRON_NAME } from '@fencepost/ledger/run';
import { CRON_SORTS, CRON_STATES, SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';
import { positionIn } from './paging.js';

/** What comes out of a check. */
export type Checked<Schema extends z.ZodType> = z.output<Schema>;

/* What the API accepts. What is not named here is refused, and each refusal is one sentence. */

export const whole = (least: number, most: number) => {
  const expected = `expected a whole number from ${least} to ${most}`;
  return z
    .string(expected)
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((number) => number >= least && number <= most, expected);
};

export const limit = (most: number, usual: number) =>
  whole(1, most)
    .default(usual)
    .meta({ description: `At most so many, 1 to ${most}; default ${usual}.`, wire: 'integer' });

const INSTANT = 'expected an instant such as 2026-11-21T03:00:00.000Z';

/** Epoch milliseconds of what is written in ISO 8601 with its offset. */
export const instant = z.iso
  .datetime({ offset: true, error: INSTANT })
  .transform((text) => Date.parse(text))
  .refine((at) => Number.isFinite(at), INSTANT);

const CRON = 'expected the name of a cron';
export const cronName = z.string(CRON).regex(CRON_NAME, CRON).describe('The name of a cron.');

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}@[A-Za-z0-9._-]{1,120}$/;
const RUN = 'expected the id of a run, such as nightly-report@1763607600000';
export const runId = z.string(RUN).regex(RUN_ID, RUN).describe('The id of a run.');

const CURSOR = 'expected "next" of the page before';
const NEXT = '"next" of the page before.';

/** Where the page before has ended, as the given pattern has it. */
const cursor = (position: RegExp) =>
  z
    .string(CURSOR)
    .max(700, CURSOR)
    .transform(positionIn)
    .refine((text) => position.test(text), CURSOR)
    .optional()
    .meta({ description: NEXT, wire: 'text' });
const entryCursor = cursor(/^\d{1,15}-\d{1,15}$/);

const SEARCH = 'expected a text of at most 200 characters';
export const search = z.string(SEARCH).max(200, SEARCH);

/** One that the library made, and reads. */
const libraryCursor = z.string(CURSOR).max(500, CURSOR).optional().describe(NEXT);

const TAG = `expected ${CRON_TEXTS.tag.expected}`;
const tag = z.string(TAG).regex(CRON_TEXTS.tag.pattern, TAG);

const REASON = 'expected a text of 1 to 1000 characters';
export const reason = z
  .string(REASON)
  .max(1_000, REASON)
  .refine((text) => text.trim() !== '', REASON)
  .describe('Reason, kept in the audit trail; 1 to 1,000 characters.');

export const flag = (what: string) => z.boolean('expected true or false').default(false).describe(what);

const ONE_TARGET = 'expected either cron or tag';

/** One cron, or every cron with a tag. */
export function muteTarget<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .strictObject({ cron: cronName.optional(), tag: tag.optional().describe('Every cron with it.'), ...shape })
    .refine(
      ({ cron, tag: of }: { cron?: unknown; tag?: unknown }) => (cron === undefined) !== (of === undefined),
      ONE_TARGET,
    );
}

export const cronParams = z.strictObject({ cron: cronName });
const RECEIVER = 'expected the id of a receiver';
export const receiverParams = z.strictObject({ id: z.string(RECEIVER).regex(/^[a-z0-9]{1,20}$/, RECEIVER) });
export const receiversQuery = z.strictObject({ cron: cronName.optional().describe('Only who hears of this cron.') });
export const runParams = z.strictObject({ id: runId });

export const cronsQuery = z.strictObject({
  search: search.optional().describe('Part of its name, its expression or its owner; case is ignored.'),
  state: z
    .enum(CRON_STATES, `expected one of ${CRON_STATES.join(', ')}`)
    .optional()
    .describe('Its health; paused, disabled, removed: whatever its health; unheld: no pod holds its lease.'),
  tag: tag.optional().describe('One of its tags.'),
  holder: search.optional().describe('Part of the name of its holder.'),
  failingSince: instant.optional().describe('Failing since before this instant.'),
  sort: z
    .enum(CRON_SORTS, `expected one of ${CRON_SORTS.join(', ')}`)
    .default('attention')
    .describe('attention: the worst first; duration, delay: by the 95th percentile.'),
  order: z
    .enum(['asc', 'desc'], 'expected asc or desc')
    .optional()
    .describe('Default: desc for duration and delay, else asc.'),
  limit: limit(500, 50),
  cursor: libraryCursor,
});

export const spanQuery = z.strictObject({
  from: instant.optional().describe('Default: a day before "to".'),
  to: instant.optional().describe('Default: an hour from now.'),
  limit: limit(5_000, 1_000),
});

export const latestQuery = z.strictObject({
  limit: limit(500, 50),
  cursor: entryCursor,
});

export const STATES = SCHEMAS.Run.shape.state.options;
export const cronRunsQuery = z.strictObject({
  limit: limit(1_000, 50),
  cursor: cursor(RUN_ID),
  state: z
    .enum(STATES, `expected one of ${STATES.join(', ')}`)
    .optional()
    .describe('Only runs in this state; except for failed and uncertain, among the latest 1,000.'),
});
export const whyQuery = z.strictObject({
  at: z
    .string('expected a time')
    .min(1, 'expected a time')
    .max(100, 'expected a time')
    .default('last')
    .describe('An instant, a local time of the zone of the cron, now, or last: the last instant that was due.'),
});

const FOR_EACH = 'expected up to 20 names of forEach';
export const runQuery = z.strictObject({
  forEach: z
    .union([z.string(), z.array(z.string()).max(20)], FOR_EACH)
    .transform((names) => [names].flat())
    .default([])
    .meta({ description: 'Also the progress of these forEach; may be repeated.', wire: 'texts' }),
});

export const leasesQuery = z.strictObject({
  search: search.optional().describe('Part of the cron or of its holder; case is ignored.'),
  cron: search.optional().describe('Part of the cron.'),
  tag: tag.optional().describe('One of the tags of the cron.'),
  holder: search.optional().describe('Part of its holder.'),
  limit: limit(1_000, 50),
  cursor: cursor(CRON_NAME),
});

const RESOURCE = 'expected the name of a resource, of at most 200 characters';
const resource = z.string(RESOURCE).min(1, RESOURCE).max(200, RESOURCE);
const KINDS = SCHEMAS.OwnLease.shape.kind.options;
const kind = z.enum(KINDS, `expected one of ${KINDS.join(', ')}`);
const FENCE = 'expected the fence that was seen, a decimal text';
const fence = z.string(FENCE).regex(/^\d{1,16}$/, FENCE);

export const ownLeasesQuery = z.strictObject({
  resource: resource.optional().describe('Exactly this name; all that is held under it, in one page.'),
  search: search.optional().describe('Part of the name.'),
  kind: kind.optional(),
  holder: search.optional().describe('Part of its holder.'),
  limit: limit(500, 50),
  cursor: libraryCursor,
});

export const cronWatchQuery = z.strictObject({
  at: instant.describe('"marker" of the answer to the order that cleared it.'),
  refusals: whole(0, 999_999_999).meta({ description: 'The same.', wire: 'integer' }),
  ledgerAt: instant.describe('The same.'),
});

export const ownWatchQuery = z.strictObject({
  kind,
  resource,
  fence: fence.describe('That of the cleared term.'),
  holder: search.describe('Who held it, as it was shown.'),
});

const ZONE = 'expected an IANA time zone such as Europe/Berlin';

export const forecastQuery = z.strictObject({
  hours: whole(1, 168).default(24).meta({ description: 'How far ahead, 1 to 168; default 24.', wire: 'integer' }),
  timeZone: z
    .string(ZONE)
    .max(100, ZONE)
    .default('UTC')
    .describe('An IANA time zone, by whose clocks hours begin; default UTC.'),
  tag: tag.optional().describe('Only crons with this tag.'),
});

export const dueAtQuery = z.strictObject({
  at: instant.describe('Any instant of the second.'),
  tag: forecastQuery.shape.tag,
});

export const auditQuery = latestQuery.extend({ cron: cronName.optional() });

export const pauseOrder = z.strictObject({
  reason,
  until: instant.nullable().optional().describe('When it ends by itself; default: it does not.'),
});

export const resumeOrder = z.strictObject({
  reason,
  missed: z
    .enum(['skip', 'fire-once'], 'expected skip or fire-once')
    .default('skip')
    .describe('fire-once: one run stands for the paused instants.'),
});

export const triggerOrder = z.strictObject({
  reason,
  payload: z.unknown().optional().describe('Plain data for the handler; default: what the definition says.'),
  force: flag('Also if the maximum of open runs is reached.'),
});

const NAMES = 'expected 1 to 1000 names of crons';
const ORDERS = ['pause', 'resume', 'trigger'] as const;

export const bulkOrder = z.strictObject({
  order: z.enum(ORDERS, `expected one of ${ORDERS.join(', ')}`),
  tag: tag.optional().describe('All crons with this tag; pause leaves out what is paused, resume what is not.'),
  crons: z.array(cronName, NAMES).min(1, NAMES).max(1_000, NAMES).optional().describe('Or these.'),
  reason,
  dryRun: flag('Preview without changes.'),
  expected: z
    .int('expected the number of crons of the preview')
    .min(0, 'expected the number of crons of the preview')
    .optional()
    .describe('Number of crons that the preview had: with another one nothing is done.'),
  until: instant.nullable().optional().describe('When a pause ends by itself; default: it does not.'),
  missed: resumeOrder.shape.missed,
});

const PART = 'expected milliseconds, a whole number from 1 to 60000';
export const backfillOrder = z.strictObject({
  reason,
  from: instant.describe('Start of the range, inclusive.'),
  to: instant.describe('End of the range, exclusive.'),
  dryRun: flag('Preview without changes.'),
  forMs: z
    .int(PART)
    .min(1, PART)
    .max(60_000, PART)
    .optional()
    .describe(
      'Stops before the next batch after so long; the answer says where to continue. Default: until all is done.',
    ),
  open: z
    .array(runId, 'expected "open" of the answer before')
    .max(1_000, 'expected "open" of the answer before')
    .optional()
    .describe('To continue: "open" of the answer before, so that the cron is not given more runs than it takes.'),
});

export const GENERATION = 'expected the generation that was seen';
export const removeOrder = z.strictObject({
  reason,
  expected: z
    .string(GENERATION)
    .regex(/^[1-9]\d{0,14}$/, GENERATION)
    .transform(Number)
    .optional()
    .meta({ description: 'Newest generation that was seen: another one is not removed.', wire: 'integer' }),
});

export const clearOrder = z.strictObject({
  reason,
  fence: fence.describe('Expected fence: a lease with another fence is not changed.'),
});

const SAFE = 'expected true: confirm that nothing is damaged if the old holder still writes';
export const ownClearOrder = clearOrder.extend({
  kind,
  resource,
  downstreamSafe: z
    .literal(true, SAFE)
    .describe('Confirms that its downstream is safe if the old holder still writes.'),
});

const TOKEN = 'expected a token of 1 to 512 characters';
export const sessionOrder = z.strictObject({ token: z.string(TOKEN).min(1, TOKEN).max(512, TOKEN) });
