import { z } from 'zod';
import {
  CRON_TEXTS,
  DEFAULT_CANCEL_GRACE_MS,
  DEFAULT_MAX_CATCH_UP,
  type CronDefinition,
} from '@fencepost/ledger/catalog';
import { scrubText } from '@fencepost/lease/internal';
import { CRON_NAME } from '@fencepost/ledger/run';
import { EVERY, parseSchedule, ScheduleError } from '@fencepost/schedule';
import { duration, choice, HANDLER_PARTS, HANDLER_SHAPE, whole } from './handler-options.js';
import { JSON_VALUES, lostInJson } from '../enqueuing/job-order.js';

export const NAME = 'a name of 1 to 100 letters, digits or . _ -, beginning with a letter or digit';

const dstSchema = z
  .strictObject(
    {
      gap: choice('next-valid', 'skip', 'shift').default('next-valid'),
      repeat: choice('first', 'last', 'both').default('first'),
    },
    'an object such as { gap: "skip" }',
  )
  .optional();

const ADDRESS = 'an address such as "https://hc.example/ping/…", with http or https';

const pingAddress = z
  .string(ADDRESS)
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), ADDRESS)
  .optional();

const pingSchema = z
  .strictObject(
    { success: pingAddress, failure: pingAddress, missed: pingAddress, uncertain: pingAddress },
    'an object such as { success: "https://hc.example/ping/…" }',
  )
  .optional();

const payloadSchema = z.unknown().superRefine((value, context) => {
  const path = value === undefined ? null : lostInJson(value);
  if (path !== null) context.addIssue({ code: 'custom', message: JSON_VALUES, path: [...path] });
});

/** Read by the schedule: an expression may say the same. */
const everySchema = z
  .unknown()
  .optional()
  .superRefine((value, context) => {
    if (value === undefined) return;
    try {
      const interval = typeof value === 'string' ? value : '';
      parseSchedule({ expression: `${EVERY} ${interval}`, timeZone: 'UTC', seed: 'cron' }, 0);
    } catch (error) {
      const message = error instanceof ScheduleError ? error.expected : String(error);
      context.addIssue({ code: 'custom', message });
    }
  });

function folded(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Of one line: white space is folded, so that a text of several lines in a source is one paragraph wherever it is shown. */
function textSchema(kind: keyof typeof CRON_TEXTS) {
  const { expected, pattern } = CRON_TEXTS[kind];
  return z.string(expected).transform(folded).pipe(z.string().regex(pattern, expected));
}

/** No credentials that can be recognised either, as `?token=…`: it is shown to whoever may read. */
const runbookSchema = textSchema('runbookUrl').refine(
  (url) => URL.canParse(url) && scrubText(url) === url,
  CRON_TEXTS.runbookUrl.expected,
);

const MAX_TAGS = 10;
const TAGS = `at most ${MAX_TAGS} tags such as ['billing', 'eu']`;

/** In order, so that two programs that mean the same declare the same. */
const tagsSchema = z
  .array(textSchema('tag'), TAGS)
  .max(MAX_TAGS, TAGS)
  .refine((tags) => new Set(tags).size === tags.length, 'each tag once')
  .transform((tags) => tags.toSorted(compareTexts))
  .default([]);

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/** What a cron and a job say of themselves to people. */
export const SAID_SHAPE = {
  tags: tagsSchema,
  description: textSchema('description').optional(),
  owner: textSchema('owner').optional(),
  runbookUrl: runbookSchema.optional(),
};

type Said = Pick<CommonOptions, keyof typeof SAID_SHAPE>;

/** Left out where nothing is said: builds from before these options then declare the same content. */
export function saidOf({ tags, description, owner, runbookUrl }: Said): Partial<CronDefinition> {
  return {
    ...(tags.length === 0 ? {} : { tags }),
    ...(description === undefined ? {} : { description }),
    ...(owner === undefined ? {} : { owner }),
    ...(runbookUrl === undefined ? {} : { runbookUrl }),
  };
}

const common = {
  name: z.string(NAME).regex(CRON_NAME, NAME),
  every: everySchema,
  timeZone: z.string('an IANA time zone such as "Europe/Berlin" or "UTC"').default('UTC'),
  dst: dstSchema,
  spread: duration('0ms', '7d').default(0),
  minInterval: duration('0ms', '7d').optional(),
  disabled: z.boolean('true or false').default(false),
  misfire: choice('skip', 'fire-once', 'fire-all').default('fire-once'),
  maxCatchUp: whole(1, 1_000).optional(),
  overlap: choice('skip', 'queue-one', 'queue-all', 'replace', 'allow').default('skip'),
  maxConcurrency: whole(1, 1_000).optional(),
  cancelGrace: duration('0ms', '24h').optional(),
  grace: duration('0ms', '24h').default(60_000),
  catchUpWindow: duration('0ms', '7d').nullable().optional(),
  startDeadline: duration('1ms', '7d').optional(),
  expectEvery: duration('1s', '3650d').optional(),
  lateAfter: duration('1s', '7d').optional(),
  ping: pingSchema,
  payload: payloadSchema.optional(),
  ...SAID_SHAPE,
};

const EXPECTED = 'an options object with at least a name';

const declaredSchema = z.strictObject({ ...common, ...HANDLER_SHAPE }, EXPECTED);
const runtimeSchema = z.strictObject(
  { ...common, handler: z.string(NAME).regex(CRON_NAME, NAME).optional() },
  EXPECTED,
);

/** The options of a cron, wherever they stand: what was not given and has a default has it. */
export type CommonOptions = Omit<z.output<typeof declaredSchema>, keyof typeof HANDLER_SHAPE>;

/** Options that only mean something beside others, and what has to stand there. */
const BESIDE: readonly (readonly [keyof CommonOptions, 'misfire' | 'overlap', readonly string[]])[] = [
  ['maxCatchUp', 'misfire', ['fire-all']],
  ['catchUpWindow', 'misfire', ['fire-once', 'fire-all']],
  ['cancelGrace', 'overlap', ['replace']],
  ['maxConcurrency', 'overlap', ['skip', 'queue-one', 'queue-all', 'replace']],
];

/** What is wrong with options that are valid one by one; `null` if nothing is. */
export function contradiction(options: CommonOptions): { option: string; expected: string; got: string } | null {
  for (const [option, other, wanted] of BESIDE) {
    const given = options[option] ?? null;
    if (given === null || wanted.includes(options[other])) continue;
    const expected = `${other} ${wanted.map((value) => JSON.stringify(value)).join(' or ')} beside it`;
    return { option, expected, got: `${other} ${JSON.stringify(options[other])}` };
  }
  const { every, dst, timeZone, ping, expectEvery, lateAfter } = options;
  const zone = dst !== undefined ? 'dst' : timeZone === 'UTC' ? null : 'timeZone';
  if (every !== undefined && zone !== null) {
    const got = JSON.stringify(options[zone]);
    return { option: zone, expected: 'nothing beside "every", which no clock change moves', got };
  }
  if (ping?.missed === undefined || expectEvery !== undefined || lateAfter !== undefined) return null;
  // No instant would ever be missed, so the address would never be called.
  return { option: 'ping.missed', expected: 'expectEvery or lateAfter beside it', got: 'neither' };
}

/** Where options stand: what they may be, and what to call it in a message. */
export interface OptionsForm<Schema extends z.ZodType> {
  readonly schema: Schema;
  readonly called: string;
  /** The options there are at a path. */
  known(option: PropertyKey | undefined): readonly string[];
}

/** At a method. */
export const DECLARED = formOf(declaredSchema, '@SingletonCron');

/** Given to the catalog at run time: whose handler, but not what stands at the handler, as how often it is tried. */
export const AT_RUN_TIME = formOf(runtimeSchema, 'the cron');

function formOf<Schema extends typeof declaredSchema | typeof runtimeSchema>(schema: Schema, called: string) {
  const parts: Readonly<Record<PropertyKey, object>> = {
    dst: dstSchema.unwrap().shape,
    ping: pingSchema.unwrap().shape,
    ...(schema === declaredSchema ? HANDLER_PARTS : {}),
  };
  const known = (option: PropertyKey | undefined) => Object.keys(parts[option ?? ''] ?? schema.shape);
  return { schema, called, known } satisfies OptionsForm<Schema>;
}

/** All but what stands at the method. */
export function definitionOf(expression: string, options: CommonOptions): CronDefinition {
  const { name, timeZone, misfire, overlap, dst, spread, minInterval = 0 } = options;
  return {
    name,
    expression,
    timeZone,
    misfire,
    overlap,
    graceMs: options.grace,
    catchUpWindowMs: options.catchUpWindow ?? null,
    // Kept where it is written down, also when it says the default: somebody has thought of it, and `fencepost lint` asks.
    ...(dst === undefined ? {} : { dst }),
    // Left out where they are the default: builds from before these options then declare the same content.
    ...(spread === 0 ? {} : { spreadMs: spread }),
    ...(minInterval === 0 ? {} : { minIntervalMs: minInterval }),
    ...limitsOf(options),
    ...watchOf(options),
    ...payloadOf(options.payload),
    ...saidOf(options),
  };
}

function limitsOf(options: CommonOptions): Partial<CronDefinition> {
  const { maxCatchUp = DEFAULT_MAX_CATCH_UP, maxConcurrency = 1, startDeadline } = options;
  const cancelGraceMs = options.cancelGrace ?? DEFAULT_CANCEL_GRACE_MS;
  return {
    ...(maxCatchUp === DEFAULT_MAX_CATCH_UP ? {} : { maxCatchUp }),
    ...(maxConcurrency === 1 ? {} : { maxConcurrency }),
    ...(startDeadline === undefined ? {} : { startDeadlineMs: startDeadline }),
    ...(cancelGraceMs === DEFAULT_CANCEL_GRACE_MS ? {} : { cancelGraceMs }),
  };
}

function watchOf({ expectEvery, lateAfter, ping = {} }: CommonOptions): Partial<CronDefinition> {
  const given = Object.entries(ping).filter(([, address]) => address !== undefined);
  return {
    ...(expectEvery === undefined ? {} : { expectEveryMs: expectEvery }),
    ...(lateAfter === undefined ? {} : { lateAfterMs: lateAfter }),
    ...(given.length === 0 ? {} : { ping: Object.fromEntries(given) }),
  };
}

/** A copy: a later change of the caller's object must not change the declaration. */
function payloadOf(payload: unknown): Partial<CronDefinition> {
  return payload === undefined || payload === null ? {} : { payload: structuredClone(payload) };
}
