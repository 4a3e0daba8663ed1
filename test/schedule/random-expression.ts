import * as fc from 'fast-check';
import type { DstRule } from '@fencepost/schedule';
import type { Local, Told } from './wall-oracle.js';

interface Field {
  readonly text: string;
  readonly plain: boolean;
  readonly has: (value: number) => boolean;
}

interface Bounds {
  readonly least: number;
  readonly most: number;
}

interface Days {
  readonly any: boolean;
  readonly text: string;
  says(local: Local): boolean;
}

const STAR: Field = { text: '*', plain: false, has: () => true };

function among(text: string, values: readonly number[]): Field {
  const known = new Set(values);
  return { text, plain: /^\d+$/.test(text), has: (value) => known.has(value) };
}

function steps(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step);
}

/** Lists, ranges and steps, in the ways people write them. */
function restricted({ least, most }: Bounds): fc.Arbitrary<Field> {
  const value = fc.integer({ min: least, max: most });
  const pair = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const step = fc.integer({ min: 2, max: most - least + 1 });
  return fc.oneof(
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((values) => among(values.join(','), values)),
    pair.map(([from, to]) => among(`${from}-${to}`, steps(from, to, 1))),
    step.map((by) => among(`*/${by}`, steps(least, most, by))),
    fc.tuple(pair, step).map(([[from, to], by]) => among(`${from}-${to}/${by}`, steps(from, to, by))),
  );
}

function oneOf({ least, most }: Bounds): fc.Arbitrary<Field> {
  return fc.integer({ min: least, max: most }).map((value) => among(`${value}`, [value]));
}

function field(bounds: Bounds): fc.Arbitrary<Field> {
  return fc.oneof(fc.constant(STAR), oneOf(bounds), restricted(bounds));
}

const EVERY_DAY: Days = { any: true, text: '*', says: () => true };

const dayOfMonth: fc.Arbitrary<Days> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(EVERY_DAY) },
  fc
    .oneof(oneOf({ least: 1, most: 28 }), restricted({ least: 1, most: 31 }))
    .map(({ text, has }) => ({ any: false, text, says: ({ day }: Local) => has(day) })),
  fc.constant({ any: false, text: 'L', says: ({ day, length }: Local) => day === length }),
  fc.constant({ any: false, text: '15,L', says: ({ day, length }: Local) => day === 15 || day === length }),
);

const NAMES = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT'];
const weekday = fc.integer({ min: 0, max: 6 });

const dayOfWeek: fc.Arbitrary<Days> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(EVERY_DAY) },
  fc
    .oneof(oneOf({ least: 0, most: 6 }), restricted({ least: 0, most: 6 }), fc.constant(among('5-7', [5, 6, 0])))
    .map(({ text, has }) => ({ any: false, text, says: (local: Local) => has(local.weekday) })),
  weekday.map((on) => ({ any: false, text: NAMES[on] ?? '', says: (local: Local) => local.weekday === on })),
  weekday.map((on) => ({
    any: false,
    text: `${on}L`,
    says: (local: Local) => local.weekday === on && local.day + 7 > local.length,
  })),
  fc.tuple(weekday, fc.integer({ min: 1, max: 4 })).map(([on, nth]) => ({
    any: false,
    text: `${on}#${nth}`,
    says: (local: Local) => local.weekday === on && Math.floor((local.day - 1) / 7) + 1 === nth,
  })),
);

const month = fc.oneof({ weight: 4, arbitrary: fc.constant(STAR) }, field({ least: 1, most: 12 }));
const [sixty, hours] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
];

interface Clock {
  readonly minute: Field;
  readonly hour: Field;
}

function told({ minute, hour }: Clock, second: Field, days: readonly [Days, Field, Days]): Told {
  const [byDay, months, byWeekday] = days;
  const either = !byDay.any && !byWeekday.any;
  return {
    text: [...(second.text === '0' ? [] : [second.text]), minute.text, hour.text]
      .concat(byDay.text, months.text, byWeekday.text)
      .join(' '),
    fixed: second.plain && minute.plain && hour.plain,
    says: (local) =>
      second.has(local.second) &&
      minute.has(local.minute) &&
      hour.has(local.hour) &&
      months.has(local.month) &&
      (either ? byDay.says(local) || byWeekday.says(local) : byDay.says(local) && byWeekday.says(local)),
  };
}

const days = fc.tuple(dayOfMonth, month, dayOfWeek);
const fixedClock = fc.record({ minute: oneOf(sixty), hour: oneOf(hours) });
const anyClock = fc.record({ minute: field(sixty), hour: field(hours) });
const ZERO = among('0', [0]);

/** With a zero for the second, as the oracle reads clocks by the minute. */
export const byTheMinute: fc.Arbitrary<Told> = fc
  .tuple(fc.oneof(fixedClock, anyClock), days)
  .map(([clock, rest]) => told(clock, ZERO, rest));

export const anyExpression: fc.Arbitrary<Told> = fc
  .tuple(fc.oneof(fixedClock, anyClock), fc.oneof(fc.constant(ZERO), field(sixty)), days)
  .map(([clock, second, rest]) => told(clock, second, rest));

/** Fixed times of every day around an hour: what lies in a gap or comes twice is found there, and nearly nowhere else. */
export function fixedAround(hour: number): fc.Arbitrary<Told> {
  const near = fc.integer({ min: hour - 2, max: hour + 2 }).map((one) => {
    const value = (one + 24) % 24;
    return among(`${value}`, [value]);
  });
  return fc
    .record({ minute: fc.oneof(oneOf(sixty), fc.constant(ZERO)), hour: near })
    .map((clock) => told(clock, ZERO, [EVERY_DAY, STAR, EVERY_DAY]));
}

export const anyRule: fc.Arbitrary<DstRule> = fc.record({
  gap: fc.constantFrom('next-valid', 'skip', 'shift'),
  repeat: fc.constantFrom('first', 'last', 'both'),
});

const { FC_RUNS = '1' } = process.env;

/** How long they may take on a machine that is busy. */
export const PATIENCE_MS = 300_000 * Math.max(1, Number(FC_RUNS));
