import { inspect } from 'node:util';
import { z } from 'zod';
import type { CronDefinition, Declaration } from '../catalog/definition.js';
import type { RetryPolicy } from '../running/retry.js';
import { CRON_NAME } from '../schedule/occurrence.js';
import { parseSchedule, ScheduleError, type DstRule, type ScheduleText } from '../schedule/schedule.js';
import { CronDeclarationError } from './cron-declaration-error.js';
import { duration } from './duration-option.js';
import type { CronMetadata } from './singleton-cron.decorator.js';

export interface CheckedCron {
  readonly declaration: Declaration;
  readonly retry: RetryPolicy;
}

const NAME = 'a name of 1 to 100 letters, digits or . _ -, beginning with a letter or digit';
const oneOf = (...values: [string, ...string[]]) => `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
const ATTEMPTS = 'a whole number from 1 to 100';
const retrySchema = z
  .strictObject(
    {
      attempts: z.int(ATTEMPTS).min(1, ATTEMPTS).max(100, ATTEMPTS).default(3),
      delay: duration('0ms', '24h').default(1_000),
      maxDelay: duration('0ms', '24h').default(300_000),
    },
    'an object such as { attempts: 3 }',
  )
  .prefault({});

const dstSchema = z
  .strictObject(
    {
      gap: z.enum(['next-valid', 'skip', 'shift'], oneOf('next-valid', 'skip', 'shift')).default('next-valid'),
      repeat: z.enum(['first', 'last', 'both'], oneOf('first', 'last', 'both')).default('first'),
    },
    'an object such as { gap: "skip" }',
  )
  .prefault({});

const schema = z.strictObject(
  {
    name: z.string(NAME).regex(CRON_NAME, NAME),
    timeZone: z.string('an IANA time zone such as "Europe/Berlin" or "UTC"').default('UTC'),
    dst: dstSchema,
    spread: duration('0ms', '7d').default(0),
    minInterval: duration('0ms', '7d').default(0),
    disabled: z.boolean('true or false').default(false),
    misfire: z.enum(['skip', 'fire-once'], oneOf('skip', 'fire-once')).default('fire-once'),
    overlap: z.enum(['skip', 'allow'], oneOf('skip', 'allow')).default('skip'),
    grace: duration('0ms', '24h').default(60_000),
    catchUpWindow: duration('0ms', '7d').nullable().default(null),
    retry: retrySchema,
  },
  'an options object with at least a name',
);

/** Options people bring along from `@Cron` of `@nestjs/schedule`, and what to write instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  utcOffset: 'use "timeZone"',
  waitForCompletion: 'use "overlap"; "skip" is the default',
  threshold: 'use "grace" and "misfire"',
  unrefTimeout: 'leave it out, no timer of a cron keeps a process alive',
  initialDelay: 'leave it out, instants before the first boot are not made up for',
};

/**
 * Checks what stands at a method, for the whole cluster to rely on.
 * @param where class and method, for the message
 * @throws {CronDeclarationError} naming the option, what was expected, and what came
 */
export function checkCron(where: string, { expression, options }: CronMetadata, now: number): CheckedCron {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw new CronDeclarationError(where, firstIssue(parsed.error, options));
  const { disabled, retry } = parsed.data;
  if (typeof expression !== 'string')
    throw wrong(where, 'expression', { expected: 'a cron expression', got: expression });
  const definition = definitionOf(expression, parsed.data);
  checkSchedule(where, definition, now);
  return {
    declaration: { definition, disabled },
    retry: { attempts: retry.attempts, delayMs: retry.delay, maxDelayMs: retry.maxDelay },
  };
}

function definitionOf(expression: string, options: z.output<typeof schema>): CronDefinition {
  const { name, timeZone, misfire, overlap, dst, spread, minInterval } = options;
  return {
    name,
    expression,
    timeZone,
    misfire,
    overlap,
    graceMs: options.grace,
    catchUpWindowMs: options.catchUpWindow,
    // Left out where they are the default: builds from before these options then declare the same content.
    ...(isDefault(dst) ? {} : { dst }),
    ...(spread === 0 ? {} : { spreadMs: spread }),
    ...(minInterval === 0 ? {} : { minIntervalMs: minInterval }),
  };
}

function isDefault({ gap, repeat }: DstRule): boolean {
  return gap === 'next-valid' && repeat === 'first';
}

/** What each part of a schedule is called here. */
const OPTIONS = {
  expression: 'expression',
  timeZone: 'timeZone',
  seed: 'name',
  dst: 'dst',
  spreadMs: 'spread',
  minIntervalMs: 'minInterval',
} as const satisfies Record<ScheduleError['part'], string>;

function checkSchedule(where: string, definition: CronDefinition, now: number): void {
  const text: ScheduleText = { ...definition, seed: definition.name };
  try {
    parseSchedule(text, now);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw wrong(where, OPTIONS[error.part], { expected: error.expected, got: text[error.part] });
  }
}

function firstIssue(error: z.ZodError, options: unknown): string {
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const key = [...issue.path, issue.keys[0]].join('.');
    const known = `known are ${Object.keys(shapeAt(issue.path[0])).join(', ')}`;
    return `@SingletonCron has no option "${key}"; ${INSTEAD[key] ?? known}.`;
  }
  const path = issue?.path ?? [];
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], options);
  return problem(path.join('.') || 'options', { expected: issue?.message ?? 'something else', got });
}

function shapeAt(option: PropertyKey | undefined): object {
  if (option === 'dst') return dstSchema.unwrap().shape;
  return option === 'retry' ? retrySchema.unwrap().shape : schema.shape;
}

interface Mismatch {
  readonly expected: string;
  readonly got: unknown;
}

function wrong(where: string, option: string, mismatch: Mismatch): CronDeclarationError {
  return new CronDeclarationError(where, problem(option, mismatch));
}

function problem(option: string, { expected, got }: Mismatch): string {
  const what = option === 'expression' ? 'the expression of @SingletonCron' : `option "${option}" of @SingletonCron`;
  return `${what}: expected ${expected.replace(/^expected /, '')}, got ${show(got)}.`;
}

/** Not as JSON: it has no way to write a bigint or a circle, and would show NaN as null. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 1, breakLength: Infinity });
}
