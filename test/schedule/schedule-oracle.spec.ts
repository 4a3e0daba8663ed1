import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSchedule, ScheduleError, zoneNamed, type DstRule, type CronSchedule } from '@fencepost/schedule';
import { anyRule, byTheMinute, fixedAround, PATIENCE_MS, anyExpression } from './random-expression.js';
import { atMost } from '../support/run-length.js';
import { localOf, type Told, wallOf, WallOracle } from './wall-oracle.js';
import { changesOf, FIRST, LAST, WHOLE_ZONES, ZONES } from './zones.js';

/** Fewer than a zone has on average, so that a table without them is noticed. */
const CHANGES_OF_ZONE = 30;

const HOUR = 3_600_000;

interface Window {
  readonly timeZone: string;
  readonly from: number;
  readonly to: number;
}

const iso = (instants: readonly number[]) => instants.map((instant) => new Date(instant).toISOString());

function expectAsCounted({ timeZone, from, to }: Window, oracle: WallOracle, [told, rule]: [Told, DstRule]): void {
  const text = { expression: told.text, timeZone, seed: 'a-cron', dst: rule };
  let schedule;
  try {
    schedule = parseSchedule(text, from);
  } catch (error) {
    // The 31st of a month that has 30 days.
    expect(String(error)).toMatch(/within five years|Invalid explicit day of month/);
    return;
  }
  const counted = iso(oracle.instants(told, rule, { from, to }));
  expect([told.text, rule, iso([...schedule.between(from, to)])]).toEqual([told.text, rule, counted]);
  const backwards: number[] = [];
  for (let at = schedule.previous(to); at !== null && at >= from; at = schedule.previous(at)) backwards.unshift(at);
  expect([told.text, rule, iso(backwards)]).toEqual([told.text, rule, counted]);
}

/** Reading clocks by the minute is slow, so that a few expressions are asked about each interval that was read. */
function expectAllAsCounted(window: Window, margin: number, asked: readonly [Told, DstRule][]): void {
  const oracle = new WallOracle(window.timeZone, { from: window.from - margin, to: window.to + margin });
  for (const one of asked) expectAsCounted(window, oracle, one);
}

describe('a schedule has the instants that are counted minute by minute on the wall', { timeout: PATIENCE_MS }, () => {
  it('around the changes of clocks there have been and will be', () => {
    const changes = WHOLE_ZONES.flatMap((timeZone) => changesOf(timeZone).map((change) => ({ timeZone, change })));
    expect(changes.length).toBeGreaterThan(CHANGES_OF_ZONE * WHOLE_ZONES.length);
    const asked = fc.constantFrom(...changes).chain(({ timeZone, change }) => {
      const { hour } = localOf(wallOf(timeZone, change - 1_000));
      const some = fc.array(fc.tuple(fc.oneof(fixedAround(hour), byTheMinute), anyRule), {
        minLength: 8,
        maxLength: 8,
      });
      return fc.tuple(fc.constant({ timeZone, change }), some);
    });
    const property = fc.property(asked, ([{ timeZone, change }, some]) => {
      expectAllAsCounted({ timeZone, from: change - 3 * HOUR, to: change + 5 * HOUR }, 3 * HOUR, some);
    });
    fc.assert(property, atMost(250));
  });

  it.each([
    ['Apia, which left out a day', 'Pacific/Apia', '2011-12-30T10:00Z', 30],
    ['Kiritimati, which left out a day', 'Pacific/Kiritimati', '1994-12-31T10:00Z', 30],
    ['Kwajalein, which left out a day', 'Pacific/Kwajalein', '1993-08-21T12:00Z', 30],
    ['Lord Howe, half an hour forwards', 'Australia/Lord_Howe', '2026-10-03T15:30Z', 4],
    ['Lord Howe, half an hour backwards', 'Australia/Lord_Howe', '2026-04-04T15:00Z', 4],
    ['Casablanca, backwards for Ramadan', 'Africa/Casablanca', '2026-02-15T02:00Z', 4],
    ['Casablanca, forwards after Ramadan', 'Africa/Casablanca', '2026-03-22T02:00Z', 4],
    ['Dublin, whose winter is the exception', 'Europe/Dublin', '2026-10-25T01:00Z', 4],
    ['Troll, two hours forwards', 'Antarctica/Troll', '2026-03-29T01:00Z', 5],
    ['Troll, two hours backwards', 'Antarctica/Troll', '2026-10-25T01:00Z', 5],
    ['Kathmandu, a quarter of an hour for good', 'Asia/Kathmandu', '1985-12-31T18:30Z', 4],
    ['Monrovia, by 44 minutes and 30 seconds', 'Africa/Monrovia', '1972-01-07T00:44:30Z', 4],
    ['Pyongyang, half an hour backwards', 'Asia/Pyongyang', '2015-08-14T15:00Z', 4],
    ['Santiago, at midnight', 'America/Santiago', '2026-09-06T04:00Z', 4],
    ['Boa Vista, for a week only', 'America/Boa_Vista', '2000-10-15T03:00Z', 4],
  ])('in %s', (...[, timeZone, changed, hours]) => {
    const change = Date.parse(changed);
    expect(changesOf(timeZone)).toContain(change);
    const window = { timeZone, from: change - hours * HOUR, to: change + hours * HOUR };
    const { hour } = localOf(wallOf(timeZone, change - 1_000));
    const one = fc.tuple(fc.oneof(fixedAround(hour), byTheMinute), anyRule);
    const property = fc.property(fc.array(one, { minLength: 40, maxLength: 40 }), (some) =>
      expectAllAsCounted(window, hours * HOUR, some),
    );
    fc.assert(property, atMost(2));
  });

  it('anywhere else', () => {
    const where = fc.record({
      timeZone: fc.constantFrom(...ZONES),
      minute: fc.integer({ min: 0, max: (LAST - FIRST) / 60_000 }),
    });
    const some = fc.array(fc.tuple(byTheMinute, anyRule), { minLength: 6, maxLength: 6 });
    const property = fc.property(where, some, ({ timeZone, minute }, asked) => {
      const from = FIRST + minute * 60_000;
      expectAllAsCounted({ timeZone, from, to: from + 24 * HOUR }, 3 * HOUR, asked);
    });
    fc.assert(property, atMost(120));
  });
});

describe('the table of a zone', { timeout: PATIENCE_MS }, () => {
  it('has the offset that Intl prints', () => {
    const where = fc.tuple(fc.constantFrom(...ZONES), fc.integer({ min: FIRST / 1_000, max: LAST / 1_000 }));
    const property = fc.property(where, ([timeZone, instant]) => {
      const { offset, start, end } = zoneNamed(timeZone).offsetIntervalAt(instant);
      expect(offset * 1_000).toBe(wallOf(timeZone, instant * 1_000) - instant * 1_000);
      expect(start <= instant && instant < end).toBe(true);
    });
    fc.assert(property, atMost(10_000));
  });
});

const DAY = 86_400_000;

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

/** Both directions between two instants; asserting for each of twenty thousand changes would take longer than asking. */
function differs(schedule: CronSchedule, from: number, to: number): boolean {
  const forwards = [...schedule.between(from, to)];
  const backwards: number[] = [];
  for (let at = schedule.previous(to); at !== null && at >= from; at = schedule.previous(at)) backwards.unshift(at);
  return forwards.join() !== backwards.join() || forwards.some((at, n) => at <= (forwards[n - 1] ?? -Infinity));
}

describe('a random schedule', () => {
  /** Somewhere in a zone's history; every second time near a change of its clocks. */
  const somewhere = fc.constantFrom(...ZONES).chain((timeZone) => {
    const anywhere = fc.integer({ min: FIRST, max: LAST });
    const changes = changesOf(timeZone);
    if (changes.length === 0) return anywhere.map((start) => ({ timeZone, start }));
    const near = fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * DAY, max: DAY })).map(([a, b]) => a + b);
    return fc.oneof(anywhere, near).map((start) => ({ timeZone, start }));
  });

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
            !told.fixed ||
            rule.gap === 'skip' ||
            changesOf(where.timeZone, instant - DAY - 1, instant + 1).length === 0,
        );
        const wrong = natural.filter((instant) => !told.says(localOf(wallOf(where.timeZone, instant))));
        expect([told.text, where.timeZone, wrong]).toEqual([told.text, where.timeZone, []]);
      });
      fc.assert(property, atMost(1_000));
    });
  });

  describe('in each zone, or in one of four in the short form', { timeout: PATIENCE_MS }, () => {
    const EXPRESSIONS = ['30 2 * * *', '0 0 * * *', '15 1 * * *', '*/20 * * * *', '30 */2 * * *', '0 1,2,3 * * *'];

    it('every change of clocks since 1970 gives the same instants forwards and backwards', () => {
      const asked = WHOLE_ZONES.flatMap((timeZone) => {
        const schedules = EXPRESSIONS.map((expression) => parseSchedule({ expression, timeZone, seed: 's' }, FIRST));
        return changesOf(timeZone).map((change, n) => ({ change, schedule: schedules[n % schedules.length]! }));
      });
      expect(asked.length).toBeGreaterThan(CHANGES_OF_ZONE * WHOLE_ZONES.length);
      const wrong = asked.filter(({ schedule, change }) => differs(schedule, change - 1.5 * DAY, change + 1.5 * DAY));
      expect(wrong).toEqual([]);
    });

    it('an expression of elapsed time loses no minute and doubles none', () => {
      for (const timeZone of WHOLE_ZONES) {
        const schedule = parseSchedule({ expression: '* * * * *', timeZone, seed: 's' }, FIRST);
        const whole = changesOf(timeZone).filter(
          (at) => (wallOf(timeZone, at) - at) % 60_000 === 0 && at % 60_000 === 0,
        );
        for (const change of whole.slice(-4)) {
          const [from, to] = [change - 7_200_000, change + 7_200_000];
          const minutes = Array.from({ length: 240 }, (_, n) => from + n * 60_000);
          expect([timeZone, [...schedule.between(from, to)]]).toEqual([timeZone, minutes]);
        }
      }
    });
  });
});
