import { CRON_NAME } from '@fencepost/ledger/run';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';

/** What comes out of a check. */
export type Checked<Schema extends z.ZodType> = z.output<Schema>;

/* What the API accepts. What is not named here is refused, and each refusal is one sentence. */

const whole = (least: number, most: number) => {
  const expected = `expected a whole number from ${least} to ${most}`;
  return z
    .string(expected)
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((number) => number >= least && number <= most, expected);
};

const limit = (most: number, usual: number) =>
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
const cronName = z.string(CRON).regex(CRON_NAME, CRON).describe('The name of a cron.');

const RUN = 'expected the id of a run, such as nightly-report@1763607600000';
const runId = z
  .string(RUN)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}@[A-Za-z0-9._-]{1,120}$/, RUN)
  .describe('The id of a run.');

const ID = 'expected the id of an entry, such as 1763607600000-0';
const entryId = z.string(ID).regex(/^\d{1,15}-\d{1,15}$/, ID);

const SEARCH = 'expected a text of at most 200 characters';
const search = z.string(SEARCH).max(200, SEARCH);
const offset = whole(0, 1_000_000).default(0).meta({ description: 'How many to leave out before.', wire: 'integer' });

const REASON = 'expected a text of 1 to 1000 characters';
export const reason = z
  .string(REASON)
  .max(1_000, REASON)
  .refine((text) => text.trim() !== '', REASON)
  .describe('Reason, kept in the audit trail; 1 to 1,000 characters.');

const flag = (what: string) => z.boolean('expected true or false').default(false).describe(what);

const TAG = 'expected a tag: 1 to 40 of a-z, 0-9, ".", "_" and "-"';
const tag = z.string(TAG).regex(/^[a-z0-9][a-z0-9._-]{0,39}$/, TAG);
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
  search: search.optional().describe('Part of its name or its expression; case is ignored.'),
  state: z
    .enum(
      ['active', 'paused', 'disabled', 'removed', 'uncertain', 'unheld'],
      'expected active, paused, disabled, removed, uncertain or unheld',
    )
    .optional()
    .describe('uncertain: has uncertain runs; unheld: should fire, but no pod holds its lease.'),
  holder: search.optional().describe('Part of the name of its holder.'),
  limit: limit(500, 50),
  offset,
});

export const spanQuery = z.strictObject({
  from: instant.optional().describe('Default: a day before "to".'),
  to: instant.optional().describe('Default: an hour from now.'),
});

export const latestQuery = z.strictObject({
  limit: limit(1_000, 50),
  before: entryId.optional().describe('The id of an entry: only older ones.'),
});

const STATES = SCHEMAS.Run.shape.state.options;
export const cronRunsQuery = z.strictObject({
  limit: limit(1_000, 50),
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

export const runsQuery = z.strictObject({
  state: z.enum(['failed', 'uncertain'], 'expected failed or uncertain'),
  cron: cronName.optional(),
  limit: limit(1_000, 50),
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
  holder: search.optional().describe('Part of its holder.'),
  limit: limit(1_000, 50),
  offset,
});

const RESOURCE = 'expected the name of a resource, of at most 200 characters';
const resource = z.string(RESOURCE).min(1, RESOURCE).max(200, RESOURCE);
const KINDS = SCHEMAS.OwnLease.shape.kind.options;
const kind = z.enum(KINDS, `expected one of ${KINDS.join(', ')}`);
const FENCE = 'expected the fence that was seen, a decimal text';
const fence = z.string(FENCE).regex(/^\d{1,16}$/, FENCE);
const CURSOR = 'expected "next" of the page before';

export const ownLeasesQuery = z.strictObject({
  resource: resource.optional().describe('Exactly this name; all that is held under it, in one page.'),
  search: search.optional().describe('Part of the name.'),
  kind: kind.optional(),
  holder: search.optional().describe('Part of its holder.'),
  limit: limit(500, 50),
  after: z.string(CURSOR).max(500, CURSOR).optional().describe('"next" of the page before.'),
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

export const forecastQuery = z.strictObject({
  hours: whole(1, 168).default(24).meta({ description: 'How far ahead, 1 to 168; default 24.', wire: 'integer' }),
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

export const removeOrder = z.strictObject({
  reason,
  expected: z
    .int('expected the generation that was seen')
    .min(1, 'expected the generation that was seen')
    .optional()
    .describe('Newest generation that was seen: another one is not removed.'),
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

const GRACE = 'expected milliseconds, a whole number from 1';
export const cancelOrder = z.strictObject({
  reason,
  graceMs: z.int(GRACE).min(1, GRACE).optional().describe('Grace period; default: that of its cron.'),
});

export const retryOrder = z.strictObject({
  reason,
  payload: z.unknown().optional().describe('Default: what the run had.'),
  force: flag('Also if the maximum of open runs is reached.'),
  repeatUnknown: flag('Also repeat effects whose outcome is unknown.'),
});

const ATTEMPT = 'expected the attempt of the run that asks, a whole number from 1';
const EFFECT = 'expected the name of the effect that the run asks about';
const ITEM = 'expected the key of the item that the run asks about, or null';

export const resolveOrder = z.strictObject({
  reason,
  answer: z.enum(['done', 'not-done', 'give-up'], 'expected done, not-done or give-up'),
  result: z.unknown().optional().describe('With done: result of the effect.'),
  attempt: z
    .int(ATTEMPT)
    .min(1, ATTEMPT)
    .describe('Attempt of the unresolved effect, as the run shows it. An answer about another effect is refused.'),
  effect: z.string(EFFECT).max(300, EFFECT).describe('Name of the unresolved effect.'),
  item: z.string(ITEM).max(300, ITEM).nullable().default(null).describe('Its item, if any.'),
  since: instant.describe('Time since which its outcome is unknown, as the run shows it.'),
});

const TOKEN = 'expected a token of 1 to 512 characters';
export const sessionOrder = z.strictObject({ token: z.string(TOKEN).min(1, TOKEN).max(512, TOKEN) });
