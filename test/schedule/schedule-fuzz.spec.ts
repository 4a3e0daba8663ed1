import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CronSchedule, type DstRule, parseSchedule, ScheduleError } from '../../libs/schedule/src/schedule.js';
import { anyExpression, anyRule, PATIENCE_MS } from './random-expression.js';
import { atMost } from '../support/run-length.js';
import { localOf, type Told, wallOf } from './wall-oracle.js';
import { changesOf, FIRST, LAST, ZONES } from './zones.js';

const DAY = 86_400_000;

/** Somewhere in a zone's history; every second time near a change of its clocks. */
const somewhere = fc.constantFrom(...ZONES).chain((timeZone) => {
  const anywhere = fc.integer({ min: FIRST, max: LAST });
  const changes = changesOf(timeZone);
  if (changes.length === 0) return anywhere.map((start) => ({ timeZone, start }));
  const near = fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * DAY, max: DAY })).map(([a, b]) => a + b);
  return fc.oneof(anywhere, near).map((start) => ({ timeZone, start }));
});

/** `null` for a day that no month has. */
function parsed(
  told: Told,
  rule: DstRule,
  { timeZone, start }: { timeZone: string; start: number },
): CronSchedule | null {
  try {
    return parseSchedule({ expression: told.text, timeZone, seed: 'a-cron', dst: rule }, start);
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}

function firstOf(schedule: CronSchedule, start: number, many: number): number[] {
  const found: number[] = [];
  for (let at = schedule.next(start); at !== null && found.length < many; at = schedule.next(at)) found.push(at);
  return found;
}

/** Any instant of an interval: its ends, and one in between. */
function within(from: number, to: number): number[] {
  return [from, from + 1, Math.floor((from + to) / 2), to - 1].filter((at) => at >= from && at < to);
}

describe('any expression, in any zone, from anywhere', { timeout: PATIENCE_MS }, () => {
  const asked = fc.property(anyExpression, anyRule, somewhere, (told, rule, where) => {
    const schedule = parsed(told, rule, where);
    fc.pre(schedule !== null);
    const found = firstOf(schedule, where.start, 25);
    const [first = 0] = found;
    expect(found.length).toBeGreaterThan(0);
    expect(first).toBeGreaterThan(where.start);

    // `between` has what repeated asking has, from its first on and without its last.
    const last = found.at(-1) ?? 0;
    expect([...schedule.between(where.start + 1, last)]).toEqual(found.slice(0, -1));
    expect([...schedule.between(first, first + 1)]).toEqual([first]);

    for (const [n, instant] of found.entries()) {
      const before = n === 0 ? where.start : (found[n - 1] ?? 0);
      expect(instant).toBeGreaterThan(before);
      // Wherever one begins to ask, what comes next is the same, and what came before as well.
      const starts = within(before, instant);
      expect(starts.map((at) => schedule.next(at))).toEqual(starts.map(() => instant));
      if (n > 0) expect(starts.map((at) => schedule.previous(at + 1))).toEqual(starts.map(() => before));
    }
  });

  it('is strictly increasing, independent of where one starts, and has its inverse', () => {
    fc.assert(asked, atMost(1_500));
  });

  it('is a matching time on the wall, but for a fixed one that a gap has swallowed', () => {
    const property = fc.property(anyExpression, anyRule, somewhere, (told, rule, where) => {
      const schedule = parsed(told, rule, where);
      fc.pre(schedule !== null);
      expect(schedule.kind).toBe(told.fixed ? 'fixed' : 'interval');
      const natural = firstOf(schedule, where.start, 10).filter(
        (instant) =>
          !told.fixed || rule.gap === 'skip' || changesOf(where.timeZone, instant - DAY - 1, instant + 1).length === 0,
      );
      const wrong = natural.filter((instant) => !told.says(localOf(wallOf(where.timeZone, instant))));
      expect([told.text, where.timeZone, wrong]).toEqual([told.text, where.timeZone, []]);
    });
    fc.assert(property, atMost(1_000));
  });
});

/** Both directions between two instants; asserting for each of twenty thousand changes would take longer than asking. */
function differs(schedule: CronSchedule, from: number, to: number): boolean {
  const forwards = [...schedule.between(from, to)];
  const backwards: number[] = [];
  for (let at = schedule.previous(to); at !== null && at >= from; at = schedule.previous(at)) backwards.unshift(at);
  return forwards.join() !== backwards.join() || forwards.some((at, n) => at <= (forwards[n - 1] ?? -Infinity));
}

describe('in every zone there is', { timeout: PATIENCE_MS }, () => {
  const EXPRESSIONS = ['30 2 * * *', '0 0 * * *', '15 1 * * *', '*/20 * * * *', '30 */2 * * *', '0 1,2,3 * * *'];

  it('every change of clocks since 1970 gives the same instants forwards and backwards', () => {
    const asked = ZONES.flatMap((timeZone) => {
      const schedules = EXPRESSIONS.map((expression) => parseSchedule({ expression, timeZone, seed: 's' }, FIRST));
      return changesOf(timeZone).map((change, n) => ({ change, schedule: schedules[n % schedules.length]! }));
    });
    expect(asked.length).toBeGreaterThan(20_000);
    const wrong = asked.filter(({ schedule, change }) => differs(schedule, change - 1.5 * DAY, change + 1.5 * DAY));
    expect(wrong).toEqual([]);
  });

  it('an expression of elapsed time loses no minute and doubles none', () => {
    for (const timeZone of ZONES) {
      const schedule = parseSchedule({ expression: '* * * * *', timeZone, seed: 's' }, FIRST);
      const whole = changesOf(timeZone).filter((at) => (wallOf(timeZone, at) - at) % 60_000 === 0 && at % 60_000 === 0);
      for (const change of whole.slice(-4)) {
        const [from, to] = [change - 7_200_000, change + 7_200_000];
        const minutes = Array.from({ length: 240 }, (_, n) => from + n * 60_000);
        expect([timeZone, [...schedule.between(from, to)]]).toEqual([timeZone, minutes]);
      }
    }
  });
});
