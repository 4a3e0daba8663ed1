import { z } from 'zod';
import { cronName, flag, GENERATION, instant, limit, reason, runId, search, STATES, whole } from './inputs.js';

/* What the API accepts about several runs, and as the definition of a cron. */

const STATE = `expected one or more of ${STATES.join(', ')}`;
const states = z
  .union([z.string(), z.array(z.string()).max(20)], STATE)
  .transform((given) => [given].flat().flatMap((text) => text.split(',')))
  .pipe(z.array(z.enum(STATES, STATE)))
  .meta({ description: 'Any of these states; may be repeated, or a list with commas.', wire: 'texts' });

const FINGERPRINT = 'expected a fingerprint of 16 hexadecimal digits';
const ofRuns = {
  cron: cronName.optional(),
  tag: search.optional().describe('Of its cron.'),
  from: instant.optional().describe('Scheduled at this instant or later.'),
  to: instant.optional().describe('Scheduled before this instant.'),
};

export const runsQuery = z.strictObject({
  ...ofRuns,
  state: states.optional(),
  minDurationMs: whole(0, 999_999_999)
    .optional()
    .meta({ description: 'Took at least so long, or runs for so long.', wire: 'integer' }),
  minAttempts: whole(0, 1_000_000).optional().meta({ description: 'Had at least so many attempts.', wire: 'integer' }),
  error: search.optional().describe('Part of its error; case is ignored.'),
  fingerprint: z
    .string(FINGERPRINT)
    .regex(/^[\da-f]{16}$/, FINGERPRINT)
    .optional()
    .describe('Failed in this way.'),
  worker: search.optional().describe('Part of the name of its worker.'),
  limit: limit(1_000, 50),
  cursor: z
    .string('expected "next" of the page before')
    .max(500, 'expected "next" of the page before')
    .optional()
    .describe('"next" of the page before.'),
});

export const failuresQuery = z.strictObject(ofRuns);

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

const ASKED = 'expected the unresolved effects of at most 100 runs';
const RUN_IDS = 'expected 1 to 100 ids of runs';
export const runBatchOrder = z.strictObject({
  order: z.enum(['retry', 'cancel', 'resolve'], 'expected retry, cancel or resolve'),
  runIds: z.array(runId, RUN_IDS).min(1, RUN_IDS).max(100, RUN_IDS).describe('At most 100.'),
  reason,
  answer: z
    .enum(['done', 'not-done', 'give-up'], 'expected done, not-done or give-up')
    .optional()
    .describe('With resolve: the answer for each of them.'),
  asked: z
    .array(resolveOrder.pick({ attempt: true, effect: true, item: true, since: true }).extend({ runId }), ASKED)
    .max(100, ASKED)
    .default([])
    .describe('With resolve: for each run, the unresolved effect as it was shown. Another one is not answered.'),
});

const SETTINGS = 'expected an object with the options of the cron';
export const cronSetOrder = z.strictObject({
  settings: z
    .record(z.string(), z.unknown(), SETTINGS)
    .describe(
      'Options as of CronCatalog.set: expression or every, timeZone, payload, misfire, …; durations as texts or ms. An option ' +
        'that is left out keeps its value, null resets one to its default; a removed cron has those of its last definition.',
    ),
  reason,
  expected: z
    .int(GENERATION)
    .min(1, GENERATION)
    .nullable()
    .optional()
    .describe('Newest generation that was seen, null: none. Another one is not changed.'),
  dryRun: flag('Validates, and says what would change.'),
});
