import { CronExpressionParser, type CronExpression } from 'cron-parser';
import { BitField, checkFields } from './field-grammar.js';
import { DayTimes, MonthDays } from './day-times.js';
import { ScheduleTextError } from './schedule-error.js';
import { WallClock } from './wall-clock.js';

/** cron-parser caps at 1,024; nothing a person writes comes near, and a longer text is an attack on the parser. */
const MAX_EXPRESSION_LENGTH = 256;

const SHAPE = 'a cron expression of 5 or 6 fields, or one like "@daily"';
const LENGTH = `a cron expression of at most ${MAX_EXPRESSION_LENGTH} characters`;

/** One number, be it written down or taken from the cron's name. A list, a range or a step is none, even of one value. */
const PLAIN = /^(\d+|H(\(\d+-\d+\))?)$/;

export interface Expression {
  readonly clock: WallClock;
  /** Second, minute and hour are plain numbers: about the clock on the wall, and not about elapsed time. */
  readonly fixed: boolean;
}

/** What crons of one expression share: nothing here changes. */
interface Reading {
  readonly times: DayTimes;
  readonly days: MonthDays;
  readonly fixed: boolean;
}

/** A hundred thousand crons have few expressions, and to read one takes a tenth of a millisecond. The oldest makes room. */
const MAX_KNOWN = 1_000;
const known = new Map<string, Reading>();

/**
 * @param seed what `H` stands for comes from it
 * @throws {ScheduleTextError}
 */
export function readExpression(text: string, seed: string): Expression {
  checkSeed(seed);
  const { times, days, fixed } = known.get(text) ?? remembered(text, read(text, seed));
  return { clock: new WallClock(times, days), fixed };
}

function remembered(text: string, reading: Reading): Reading {
  // An `H` is another number for each cron.
  if (/h/i.test(text)) return reading;
  const [oldest] = known.keys();
  if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  known.set(text, reading);
  return reading;
}

function read(text: string, seed: string): Reading {
  const fields = fieldsOf(text);
  if (fields !== null) checkFields(fields);
  const parsed = parse(text.trim(), seed);
  const { second, minute, hour } = parsed.fields;
  const [hours, minutes, seconds] = [hour, minute, second].map(({ values }) => bitsOf(values));
  if (!hours || !minutes || !seconds) throw new ScheduleTextError('expression', SHAPE);
  const times = new DayTimes(hours, minutes, seconds);
  const plain = fields === null || fields.slice(0, 3).every((field) => PLAIN.test(field));
  return { times, days: daysOf(parsed), fixed: plain && times.first === times.last };
}

/**
 * Checked here too, since the parser takes a random seed for an empty one.
 * @throws {ScheduleTextError}
 */
export function checkSeed(seed: string): void {
  if (typeof seed !== 'string' || seed === '')
    throw new ScheduleTextError('seed', "the cron's name, which is not empty");
}

/**
 * The same expression with numbers for each `H`: equal texts with equal ones have the same instants.
 * @throws {ScheduleTextError}
 */
export function resolvedExpression(text: string, seed: string): string {
  return parse(text.trim(), seed).stringify(true);
}

/** Second to day-of-week; `null` for one of the `@daily` kind. */
function fieldsOf(text: string): readonly string[] | null {
  if (typeof text !== 'string') throw new ScheduleTextError('expression', SHAPE);
  if (text.length > MAX_EXPRESSION_LENGTH) throw new ScheduleTextError('expression', LENGTH);
  const fields = text.trim().split(/\s+/);
  if (fields.length === 1 && fields[0]?.startsWith('@')) return null;
  if (fields.length === 5) return ['0', ...fields];
  if (fields.length === 6) return fields;
  throw new ScheduleTextError('expression', SHAPE);
}

/** Only the fields are read; without a date, or with 0, the parser would ask for the zone of this machine, which takes long. */
const ANY_DATE = 1;

function parse(expression: string, hashSeed: string): CronExpression {
  try {
    return CronExpressionParser.parse(expression, { tz: 'UTC', currentDate: ANY_DATE, hashSeed });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new ScheduleTextError('expression', `a valid cron expression (${detail})`);
  }
}

function daysOf({ fields: { dayOfMonth, dayOfWeek, month } }: CronExpression): MonthDays {
  const last = dayOfWeek.values.filter((value) => String(value).endsWith('L'));
  return new MonthDays({
    months: new Set(numbersIn(month.values)),
    days: new Set(numbersIn(dayOfMonth.values)),
    lastDay: dayOfMonth.hasLastChar,
    weekdays: new Set(numbersIn(dayOfWeek.values).map((day) => day % 7)),
    nth: dayOfWeek.nthDay,
    lastWeekdays: new Set(last.map((value) => Number.parseInt(String(value), 10) % 7)),
    anyDay: dayOfMonth.isWildcard,
    anyWeekday: dayOfWeek.isWildcard,
  });
}

function bitsOf(values: readonly unknown[]): BitField {
  return new BitField(numbersIn(values));
}

function numbersIn(values: readonly unknown[]): readonly number[] {
  return values.filter((value) => typeof value === 'number');
}

/** What an interval begins with, as an expression: `@every 30s`. */
export const EVERY = '@every';

const INTERVAL = /^@every\s+(\d{1,9})(s|m|h|d)$/;

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

const MAX_INTERVAL_S = 365 * 86_400;

const INTERVAL_EXPECTED = "an interval from '1s' to '365d': a whole number and its unit, s, m, h or d";

/** Whether the expression is an interval, right or wrong. */
export function isEvery(expression: string): boolean {
  return /^\s*@every(\s|$)/.test(expression);
}

/**
 * The interval in seconds.
 * @throws {ScheduleTextError}
 */
export function readEvery(expression: string): number {
  const [, amount, unit] = INTERVAL.exec(expression.trim()) ?? [];
  const seconds = Number(amount) * (UNIT_S[unit ?? ''] ?? Number.NaN);
  if (seconds >= 1 && seconds <= MAX_INTERVAL_S) return seconds;
  throw new ScheduleTextError('expression', INTERVAL_EXPECTED);
}
