import { inspect } from 'node:util';
import { scrubText } from '@fencepost/lease/internal';
import { knownInstead } from '@fencepost/lease/internal/options';
import { z } from 'zod';
import type { CronDefinition, Declaration } from '@fencepost/ledger/catalog';
import { EVERY, ScheduleError, parseSchedule, MANUAL, type ScheduleText } from '@fencepost/schedule';
import { CRON_NAME } from '@fencepost/ledger/run';
import {
  AT_RUN_TIME,
  contradiction,
  DECLARED,
  definitionOf,
  NAME,
  saidOf,
  SAID_SHAPE,
  type CommonOptions,
  type OptionsForm,
} from './cron-options.js';
import {
  handlerContradiction,
  handlerTerms,
  HANDLER_PARTS,
  HANDLER_SHAPE,
  type HandlerTerms,
} from './handler-options.js';
import type { CronMetadata, JobMetadata } from './decorated-methods.js';
import type { CronHandler } from '../running/delivery.js';
import { payloadReader, isStandardSchema, type StandardSchema } from '../running/payload-schema.js';
import { FencepostError } from '@fencepost/lease';

export interface CheckedCron extends HandlerTerms {
  readonly declaration: Declaration;
}

/** A cron as it was written, and what holds for every cron of the process. */
export interface WrittenCron extends CronMetadata {
  /** How close two instants may be of a cron that says nothing about it itself; any distance by default. */
  readonly minIntervalMs?: number;
}

/** Options people bring along from `@Cron` of `@nestjs/schedule`, and what to write instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['utcOffset', 'use "timeZone"'],
  ['waitForCompletion', 'use "overlap"; "skip" is the default'],
  ['threshold', 'use "grace" and "misfire"'],
  ['unrefTimeout', 'remove it; cron timers never keep a process alive'],
  ['initialDelay', 'remove it; instants before the first boot are never made up for'],
]);

/** Where a cron stands and what its options are called there. */
interface Place {
  /** Class and method, or what was called. */
  readonly where: string;
  readonly called: string;
}

/**
 * Checks what stands at a method, for the whole cluster to rely on.
 * @param where class and method, for the message
 * @param now epoch milliseconds, to see that an instant comes within five years
 * @throws {CronDeclarationError} naming the option, what was expected, and what came
 */
export function checkCron(where: string, cron: WrittenCron, now: number): CheckedCron {
  const place = { where, called: DECLARED.called };
  const options = parsed(where, cron.options, DECLARED);
  const definition = checkedDefinition(place, { cron, options }, now);
  const alone = handlerContradiction(options);
  if (alone) throw wrong(place, alone);
  return { declaration: { definition, disabled: options.disabled }, ...handlerTerms(options) };
}

/**
 * Checks a cron that is made or changed at run time, by the same rules. Its options may say with `handler` which declared
 * cron's method carries its runs out, and have no `retry`: that stands at the method.
 * @param where what was called, for the message
 * @throws {CronDeclarationError} naming the option, what was expected, and what came
 */
export function checkRuntimeCron(where: string, cron: WrittenCron, now: number): Declaration {
  const place = { where, called: AT_RUN_TIME.called };
  const { handler, ...options } = parsed(where, cron.options, AT_RUN_TIME);
  const definition = checkedDefinition(place, { cron, options }, now);
  const isOther = handler !== undefined && handler !== definition.name;
  return { definition: isOther ? { ...definition, handler } : definition, disabled: options.disabled };
}

/** @throws {CronDeclarationError} for the first option that is wrong */
function parsed<Schema extends z.ZodType>(
  where: string,
  options: unknown,
  form: OptionsForm<Schema>,
): z.output<Schema> {
  const reading = form.schema.safeParse(options);
  if (reading.success) return reading.data;
  throw new CronDeclarationError(where, firstIssue(reading.error, options, form));
}

interface Parsed {
  readonly cron: WrittenCron;
  readonly options: CommonOptions;
}

function checkedDefinition(place: Place, { cron, options }: Parsed, now: number): CronDefinition {
  const { minIntervalMs: everybodys = 0 } = cron;
  const contrary = contradiction(options);
  if (contrary) throw wrong(place, contrary);
  const expression = checkedExpression(place, { cron, options });
  const definition = definitionOf(expression, options);
  // Only checked and no part of the definition: two pods with another setting then still declare the same cron.
  const minIntervalMs = options.minInterval ?? everybodys;
  checkSchedule(place, { ...definition, seed: definition.name, minIntervalMs }, { now, every: options.every });
  return definition;
}

/** An interval is an expression too, of a kind that no other reading has: a build that doesn't know it can't misread it. */
function checkedExpression(place: Place, { cron: { expression }, options }: Parsed): string {
  const { every } = options;
  if (every === undefined) {
    if (typeof expression === 'string') return expression;
    const expected = `a cron expression, or the option "every" such as '30s'`;
    throw wrong(place, { option: 'expression', expected, got: show(expression) });
  }
  if (expression !== undefined) {
    const got = `every ${show(every)} beside ${show(expression)}`;
    throw wrong(place, { option: 'every', expected: 'a cron expression or "every", not both', got });
  }
  return `${EVERY} ${typeof every === 'string' ? every : show(every)}`;
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

function checkSchedule(place: Place, text: ScheduleText, { now, every }: { now: number; every: unknown }): void {
  try {
    parseSchedule(text, now);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    const { part, expected } = error;
    // Nobody wrote the expression that an interval is kept as.
    if (part === 'expression' && every !== undefined)
      throw wrong(place, { option: 'every', expected, got: show(every) });
    throw wrong(place, { option: OPTIONS[part], expected, got: show(text[part]) });
  }
}

function firstIssue(
  error: z.ZodError,
  options: unknown,
  form: Pick<OptionsForm<z.ZodType>, 'called' | 'known'>,
): string {
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const key = [...issue.path, issue.keys[0]].join('.');
    const instead = INSTEAD.get(key) ?? knownInstead(String(issue.keys[0]), form.known(issue.path[0]));
    return `${form.called} has no option "${key}"; ${instead}${instead.endsWith('?') ? '' : '.'}`;
  }
  const path = issue?.path ?? [];
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], options);
  const option = path.join('.') || 'options';
  // The path of a ping's address is as good as a password.
  const isSecret = path[0] === 'ping' && typeof got === 'string';
  const expected = issue?.message ?? 'something else';
  return sentence(form.called, { option, expected, got: isSecret ? 'another text, which is not shown' : show(got) });
}

interface Mismatch {
  readonly option: string;
  readonly expected: string;
  readonly got: string;
}

function wrong({ where, called }: Place, mismatch: Mismatch): CronDeclarationError {
  return new CronDeclarationError(where, sentence(called, mismatch));
}

function sentence(called: string, { option, expected, got }: Mismatch): string {
  const what = option === 'expression' ? `the expression of ${called}` : `option "${option}" of ${called}`;
  return `${what}: expected ${expected.replace(/^expected /, '')}, got ${got}.`;
}

/** Not as JSON: it has no way to write a bigint or a circle, and would show NaN as null. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  // An address may be as good as a password.
  return typeof value === 'string'
    ? JSON.stringify(scrubText(value))
    : inspect(value, { depth: 1, breakLength: Infinity });
}

const SCHEMA = 'a Standard Schema version 1 (https://standardschema.dev), such as z.object({ to: z.string() })';

const schema = z.strictObject(
  { schema: z.custom<StandardSchema>(isStandardSchema, SCHEMA).optional(), ...SAID_SHAPE, ...HANDLER_SHAPE },
  'an options object, or none',
);

const PARTS: Readonly<Record<PropertyKey, object>> = HANDLER_PARTS;

const FORM = {
  schema,
  called: '@JobHandler',
  known: (option: PropertyKey | undefined) => Object.keys(PARTS[option ?? ''] ?? schema.shape),
};

export type CheckedJob = CheckedCron & Pick<CronHandler, 'readPayload'>;

/**
 * Checks what stands at a method, for the whole cluster to rely on.
 * @param where class and method, for the message
 * @throws {CronDeclarationError} naming the option, what was expected, and what came
 */
export function checkJob(where: string, { name, options }: JobMetadata): CheckedJob {
  const place = { where, called: FORM.called };
  if (typeof name !== 'string' || !CRON_NAME.test(name)) {
    throw wrong(place, { option: 'name', expected: NAME, got: JSON.stringify(name) ?? 'nothing' });
  }
  const checked = parsed(where, options, FORM);
  const contrary = handlerContradiction(checked);
  if (contrary) throw wrong(place, contrary);
  return {
    declaration: { definition: { ...jobDefinition(name), ...saidOf(checked) }, disabled: false },
    ...handlerTerms(checked),
    ...(checked.schema ? { readPayload: payloadReader(name, checked.schema) } : {}),
  };
}

/** Two runs of a job are two pieces of work, which is why they may overlap. What is about instants says nothing here. */
function jobDefinition(name: string): CronDefinition {
  return {
    name,
    expression: MANUAL,
    timeZone: 'UTC',
    misfire: 'skip',
    overlap: 'allow',
    graceMs: 0,
    catchUpWindowMs: null,
  };
}

/** A `@SingletonCron` that can't be: the process refuses to start, because a cron that silently never runs is worse. */
export class CronDeclarationError extends FencepostError {
  readonly code = 'CRON_DECLARATION';

  /** @param where class and method, `ReportJobs.nightly` */
  constructor(
    readonly where: string,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`${where}: ${problem}`, options);
  }
}

/** A job for which a duplicate is damage, on a store that may lose what it acknowledged: the process refuses to start. */
export class ClassificationError extends FencepostError {
  readonly code = 'CLASSIFICATION';

  /** @param jobs each with class and method */
  constructor(
    readonly jobs: readonly string[],
    readonly found: readonly string[],
    lines: readonly string[],
  ) {
    super(
      `The ledger may lose acknowledged writes, which criticality "correctness" does not allow at ${jobs.join(', ')}. ` +
        `After such a loss, runs and effects would be repeated. Found: ${found.join(' ')} ` +
        `Change one of these lines: ${lines.join('; ')}.`,
    );
  }
}
