import { ScheduleTextError } from './schedule-error.js';

/** A set of numbers from 0 to 63 as two words of bits, so that the next one is found without a loop. */
export class BitField {
  readonly #low: number;
  readonly #high: number;
  readonly first: number;
  readonly last: number;

  /** @param values at least one */
  constructor(readonly values: readonly number[]) {
    const word = (from: number) =>
      values.reduce((bits, n) => (n >> 5 === from >> 5 ? bits | (1 << (n & 31)) : bits), 0);
    [this.#low, this.#high] = [word(0), word(32)];
    [this.first, this.last] = [Math.min(...values), Math.max(...values)];
  }

  has(value: number): boolean {
    return (((value < 32 ? this.#low : this.#high) >>> (value & 31)) & 1) === 1;
  }

  /** The least one that is not below `value`, which is 0 to 63; -1 without one. */
  atOrAfter(value: number): number {
    if (value < 32) {
      const rest = this.#low >>> value;
      if (rest !== 0) return value + lowestBit(rest);
    }
    const from = value < 32 ? 0 : value - 32;
    const rest = this.#high >>> from;
    return rest === 0 ? -1 : 32 + from + lowestBit(rest);
  }

  /** The greatest one that is not above `value`, which is -1 to 63; -1 without one. */
  atOrBefore(value: number): number {
    if (value >= 32) {
      const rest = this.#high & (-1 >>> (63 - value));
      if (rest !== 0) return 32 + highestBit(rest);
    }
    if (value < 0) return -1;
    const rest = this.#low & (-1 >>> (value < 32 ? 31 - value : 0));
    return rest === 0 ? -1 : highestBit(rest);
  }
}

export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

export function highestBit(word: number): number {
  return 31 - Math.clz32(word);
}

interface FieldRule {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** How many values there are; a step beyond that is a misunderstanding: minutes of 0/90 are every hour. */
  readonly size: number;
  readonly names?: readonly string[];
  readonly example: string;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const SECOND = { name: 'second', least: 0, most: 59, size: 60, example: '"0", "5-10", "*/15" or "H"' };
const MINUTE = { ...SECOND, name: 'minute' };
const HOUR = { name: 'hour', least: 0, most: 23, size: 24, example: '"3", "9-17", "*/6" or "H"' };
const DAY = { name: 'day-of-month', least: 1, most: 31, size: 31, example: '"1", "1-7", "15,L" or "H"' };
const MONTH = { name: 'month', least: 1, most: 12, size: 12, names: MONTHS, example: '"3", "JAN-MAR" or "*/3"' };
const WEEKDAY = {
  name: 'day-of-week',
  least: 0,
  most: 7,
  size: 7,
  names: WEEKDAYS,
  example: '"1-5", "MON,WED", "FRIL" or "MON#2"',
};
const FIELDS: readonly FieldRule[] = [SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY];

const VALUE = '(\\d{1,2}|[a-z]{3})';
const RANGE = new RegExp(`^${VALUE}(?:-${VALUE})?$`, 'i');
const HASHED = /^H(?:\((\d{1,2})-(\d{1,2})\))?$/;
const LAST_WEEKDAY = new RegExp(`^${VALUE}L$`, 'i');
const NTH_WEEKDAY = new RegExp(`^(?:${VALUE}|H)#[1-5]$`, 'i');

/**
 * Refuses what the parser would take for something else than it says: `1-5-9` for 1-5, `5*` for 50-59, `10L` for the last
 * Monday, a month's name for a weekday, a step that is longer than the field.
 * @param fields second to day-of-week
 * @throws {ScheduleTextError}
 */
export function checkFields(fields: readonly string[]): void {
  FIELDS.forEach((rule, n) => {
    const text = fields[n] ?? '';
    if (rule === WEEKDAY && isNthWeekday(text)) return;
    for (const atom of text.split(',')) {
      if (!isAtom(rule, atom)) throw new ScheduleTextError('expression', expectedOf(rule, text));
    }
  });
}

function expectedOf({ name, least, most, example }: FieldRule, text: string): string {
  return `a valid cron expression (the ${name} field takes values from ${least} to ${most}, as in ${example}, not "${text}")`;
}

function isAtom(rule: FieldRule, atom: string): boolean {
  const [base = '', step, ...more] = atom.split('/');
  if (more.length > 0) return false;
  if (step !== undefined) return isStep(rule, step) && (isBase(rule, base) || isOneValue(rule, base));
  if (rule === DAY && base === 'L') return true;
  if (rule === WEEKDAY && LAST_WEEKDAY.test(base)) return isOneValue(rule, base.slice(0, -1));
  return isBase(rule, base) || isOneValue(rule, base);
}

function isStep({ size }: FieldRule, step: string): boolean {
  return /^\d{1,2}$/.test(step) && Number(step) >= 1 && Number(step) <= size;
}

/** Everything, a range, or `H`, which may stand before a step. */
function isBase(rule: FieldRule, base: string): boolean {
  if (base === '*' || base === '?') return true;
  const hashed = HASHED.exec(base);
  if (hashed) return hashed[1] === undefined || rises(rule, hashed[1], hashed[2]);
  const [, from, to] = RANGE.exec(base) ?? [];
  return to !== undefined && rises(rule, from, to);
}

function isOneValue(rule: FieldRule, text: string): boolean {
  const [whole, , to] = RANGE.exec(text) ?? [];
  return whole !== undefined && to === undefined && !Number.isNaN(valueOf(rule, text));
}

function rises(rule: FieldRule, from = '', to = ''): boolean {
  return valueOf(rule, from) <= valueOf(rule, to);
}

function isNthWeekday(text: string): boolean {
  const [value = ''] = text.split('#');
  return NTH_WEEKDAY.test(text) && (value === 'H' || isOneValue(WEEKDAY, value));
}

/** `NaN` for what is not one of the field's values. */
function valueOf({ least, most, names }: FieldRule, text: string): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  const value = named >= 0 ? named + least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : Number.NaN;
}
