import { z } from 'zod';
import { UsageError } from '../exit.js';
import { CRON_NAME, CRON_TEXTS, parseSchedule, ScheduleError, type CronDefinition, type Declaration } from '../jobs.js';

/** What a deploy declares, as a file has it. */
export interface DeclarationsFile {
  /** `null` where the file doesn't say. */
  readonly app: string | null;
  readonly declarations: readonly Declaration[];
}

const oneOf = (...values: [string, ...string[]]) => z.enum(values, `one of ${values.join(', ')}`);
const milliseconds = z.int('a whole number of milliseconds').min(0, 'a whole number of milliseconds');
const least1 = z.int('a whole number from 1').min(1, 'a whole number from 1');
const text = (expected: string) => z.string(expected).min(1, expected);

function said(kind: keyof typeof CRON_TEXTS) {
  const { expected, pattern } = CRON_TEXTS[kind];
  return z.string(expected).regex(pattern, expected);
}

const ping = text('an address').optional();
/** In order, as the catalog has them; none is the same as no tags. */
const tags = z
  .array(said('tag'), 'at most 10 tags')
  .max(10, 'at most 10 tags')
  .refine((given) => new Set(given).size === given.length, 'each tag once')
  .transform((given) => (given.length === 0 ? undefined : given.toSorted((a, b) => (a < b ? -1 : 1))))
  .optional();

const definition = z.strictObject(
  {
    name: z.string('the name of a cron').regex(CRON_NAME, 'a name of 1 to 100 letters, digits or . _ -'),
    expression: text('a cron expression'),
    timeZone: text('an IANA time zone such as "Europe/Berlin"').default('UTC'),
    misfire: oneOf('skip', 'fire-once', 'fire-all').default('fire-once'),
    overlap: oneOf('skip', 'queue-one', 'queue-all', 'replace', 'allow').default('skip'),
    graceMs: milliseconds.default(60_000),
    catchUpWindowMs: milliseconds.nullable().default(null),
    dst: z
      .strictObject(
        { gap: oneOf('next-valid', 'skip', 'shift'), repeat: oneOf('first', 'last', 'both') },
        'a gap and a repeat',
      )
      .optional(),
    spreadMs: milliseconds.optional(),
    minIntervalMs: milliseconds.optional(),
    maxCatchUp: least1.optional(),
    maxConcurrency: least1.optional(),
    startDeadlineMs: milliseconds.optional(),
    cancelGraceMs: milliseconds.optional(),
    expectEveryMs: milliseconds.optional(),
    lateAfterMs: milliseconds.optional(),
    ping: z.strictObject({ success: ping, failure: ping, missed: ping, uncertain: ping }, 'addresses').optional(),
    handler: text('the name of a cron that is declared in code').optional(),
    payload: z.unknown().optional(),
    tags,
    description: said('description').optional(),
    owner: said('owner').optional(),
    runbookUrl: said('runbookUrl').optional(),
  } satisfies Record<keyof CronDefinition, z.ZodType>,
  'an object with name, expression, timeZone and so on',
);
const declaration = z.strictObject(
  { definition, disabled: z.boolean('true or false').default(false) },
  'an object such as { "definition": { … }, "disabled": false }',
);
const declarations = z.array(declaration, 'an array of declarations');
const deploy = z.strictObject(
  { app: text('the name of an app').optional(), declarations },
  'an array of declarations, or an object with "declarations"',
);

/**
 * Reads an array of declarations, or `{ app, declarations }`.
 * @param where the file, for messages
 * @param now an expression has to have an instant within five years from then
 * @throws {UsageError} naming the place, what was expected there, and what came
 */
export function readDeclarations(content: string, where: string, now: number): DeclarationsFile {
  const value = parse(content, where);
  const read = deploy.safeParse(Array.isArray(value) ? { declarations: value } : value);
  if (!read.success) throw new UsageError(firstIssue(read.error, value, where));
  const { app = null } = read.data;
  const declared = read.data.declarations as readonly Declaration[];
  checkNames(declared, where);
  for (const each of declared) checkSchedule(each.definition, where, now);
  return { app, declarations: declared };
}

function parse(content: string, where: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Expected JSON with the declarations of a deploy in ${where}, but cannot parse it: ${detail}`);
  }
}

function firstIssue({ issues: [issue] }: z.ZodError, value: unknown, where: string): string {
  const path = (issue?.path ?? []).filter((_, n) => !(n === 0 && Array.isArray(value)));
  const place = path.length === 0 ? where : `${where} at ${path.join('.')}`;
  if (issue?.code === 'unrecognized_keys') return `Expected no "${issue.keys[0]}" in ${place}: unknown field.`;
  const got = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
  return `Expected ${issue?.message ?? 'something else'} in ${place}, got ${JSON.stringify(got)?.slice(0, 80) ?? 'nothing'}.`;
}

function checkNames(declared: readonly Declaration[], where: string): void {
  const names = declared.map((each) => each.definition.name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice === undefined) return;
  throw new UsageError(`Expected each cron once in ${where}, but "${twice}" is declared twice. Rename one of them.`);
}

function checkSchedule(checked: CronDefinition, where: string, now: number): void {
  try {
    parseSchedule({ ...checked, seed: checked.name }, now);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw new UsageError(`Expected ${error.part} of "${checked.name}" in ${where} to be ${error.expected}.`);
  }
}
