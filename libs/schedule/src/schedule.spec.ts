import { describe, expect, it } from 'vitest';
import { parseSchedule } from './schedule.js';
import { BitField } from './field-grammar.js';
import { shortestPeriod } from './fixed-steps.js';
import { readExpression } from './read-expression.js';

const NOW = Date.parse('2026-03-28T12:00:00Z');

const at = (iso: string) => Date.parse(iso);

const utc = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString().slice(0, 16));

function schedule(expression: string, timeZone = 'UTC', seed = 'a-cron') {
  return parseSchedule({ expression, timeZone, seed }, NOW);
}

describe('a schedule', () => {
  it('gives the first instant strictly after the one it is asked about', () => {
    const everySecond = schedule('* * * * * *');
    expect(everySecond.next(1_000)).toBe(2_000);
    expect(everySecond.next(1_001)).toBe(2_000);
    expect(everySecond.next(-1)).toBe(0);
    expect(everySecond.previous(2_000)).toBe(1_000);
    expect(everySecond.previous(2_001)).toBe(2_000);
  });

  it('is independent of what it was asked before', () => {
    const daily = schedule('0 3 * * *', 'Europe/Berlin');
    const first = daily.next(NOW);
    daily.previous(at('2020-01-01T00:00:00Z'));
    expect(daily.next(NOW)).toBe(first);
    expect(first).toBe(at('2026-03-29T01:00:00Z'));
  });

  it('gives the instants from the first of an interval of time on, and not its last', () => {
    const hourly = schedule('0 * * * *');
    const [from, to] = [at('2026-01-01T00:00:00Z'), at('2026-01-01T03:00:00Z')];
    expect([...hourly.between(from, to)].map(utc)).toEqual([
      '2026-01-01T00:00',
      '2026-01-01T01:00',
      '2026-01-01T02:00',
    ]);
    expect([...hourly.between(from + 1, to + 1)].map(utc)).toEqual([
      '2026-01-01T01:00',
      '2026-01-01T02:00',
      '2026-01-01T03:00',
    ]);
    expect([...hourly.between(from, from)]).toEqual([]);
    expect([...hourly.between(to, from)]).toEqual([]);
  });

  it('works instants out one by one, so that a hundred years of seconds can be begun', () => {
    const begun = schedule('* * * * * *').between(0, at('2070-01-01T00:00:00Z'));
    expect([begun.next().value, begun.next().value, begun.next().value]).toEqual([0, 1_000, 2_000]);
  });

  it('takes either of day-of-month and day-of-week when both are restricted', () => {
    const either = schedule('0 0 13 * FRI');
    const found = [...either.between(at('2026-03-01T00:00:00Z'), at('2026-03-21T00:00:00Z'))];
    expect(found.map((day) => new Date(day).getUTCDate())).toEqual([6, 13, 20]);
    const both = [...schedule('0 0 1 * FRI').between(at('2026-04-01T00:00:00Z'), at('2026-04-05T00:00:00Z'))];
    expect(both.map((day) => new Date(day).getUTCDate())).toEqual([1, 3]);
  });

  it.each([
    ['0 12 L * *', '2026-03-31T12:00'],
    ['0 12 L 2 *', '2027-02-28T12:00'],
    ['0 12 * * MON#2', '2026-04-13T12:00'],
    ['0 12 * * 5L', '2026-04-24T12:00'],
    ['0 12 29 2 *', '2028-02-29T12:00'],
    ['@monthly', '2026-04-01T00:00'],
    ['  0   12 * * *  ', '2026-03-29T12:00'],
  ])('comes for "%s" at %s next', (expression, then) => {
    expect(utc(schedule(expression).next(NOW))).toBe(then);
  });

  it('looks fifty years far, and says null beyond', () => {
    const leap = parseSchedule({ expression: '0 0 29 2 *', timeZone: 'UTC', seed: 's' }, NOW);
    expect(utc(leap.next(at('2096-03-01T00:00:00Z')))).toBe('2104-02-29T00:00');
    expect(utc(leap.previous(at('2104-02-01T00:00:00Z')))).toBe('2096-02-29T00:00');
    expect(leap.next(Number.NaN)).toBeNull();
    expect(leap.next(Number.POSITIVE_INFINITY)).toBeNull();
    expect(leap.previous(Number.NEGATIVE_INFINITY)).toBeNull();
  });

  it.each([
    ['0 3 * * *', 'fixed'],
    ['5 0 3 * * *', 'fixed'],
    ['H H * * *', 'fixed'],
    ['@daily', 'fixed'],
    ['@hourly', 'interval'],
    ['* 3 * * *', 'interval'],
    ['0 3,15 * * *', 'interval'],
    ['*/60 3 * * *', 'interval'],
    ['* 0 3 * * *', 'interval'],
  ])('of "%s" is %s', (expression, kind) => {
    expect(schedule(expression).kind).toBe(kind);
  });

  it('seeds H with the name: stable for one cron, spread over many', () => {
    const minute = (seed: string) => schedule('H H * * *', 'UTC', seed).next(NOW);
    expect(utc(minute('nightly-report'))).toBe('2026-03-28T23:55');
    const spread = new Set(Array.from({ length: 20 }, (_, i) => minute(`cron-${i}`)));
    expect(spread.size).toBeGreaterThan(15);
  });

  it('takes the name of a zone in any case of letters, and its older names', () => {
    expect(schedule('0 3 * * *', 'europe/BERLIN').next(NOW)).toBe(at('2026-03-29T01:00:00Z'));
    expect(schedule('0 3 * * *', 'Asia/Calcutta').next(NOW)).toBe(schedule('0 3 * * *', 'Asia/Kolkata').next(NOW));
  });
});

describe('a bit field', () => {
  it.each([[[0]], [[59]], [[31, 32]], [[0, 15, 30, 45]], [[63]], [Array.from({ length: 60 }, (_, n) => n)], [[1, 31]]])(
    'of %j finds what a list would find, from everywhere',
    (values) => {
      const field = new BitField(values);
      for (let from = -1; from < 64; from += 1) {
        expect(field.atOrBefore(from)).toBe(values.findLast((value) => value <= from) ?? -1);
        if (from < 0) continue;
        expect(field.atOrAfter(from)).toBe(values.find((value) => value >= from) ?? -1);
        expect(field.has(from)).toBe(values.includes(from));
      }
    },
  );
});

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

describe('the shortest period', () => {
  it.each([
    ['* * * * * *', 1],
    ['*/7 * * * * *', 4],
    ['10,50 * * * * *', 20],
    ['30 * * * * *', MINUTE],
    ['*/25 * * * *', 10 * MINUTE],
    ['0,59 * * * *', MINUTE],
    ['0 9-17 * * *', HOUR],
    ['0 0,23 * * *', HOUR],
    ['0 3,15 * * *', 12 * HOUR],
    ['55 23,1 * * *', 2 * HOUR],
    ['0 3 * * *', DAY],
    ['0 3 * * MON,THU', 3 * DAY],
    ['0 3 * * 1', 7 * DAY],
    ['0 3 1 * *', 28 * DAY],
    ['0 3 1,31 * *', DAY],
    ['0 0,23 1,3 * *', 23 * HOUR],
    ['0 3 29 2 *', 1_461 * DAY],
    ['0 3 L * 1', DAY],
    ['0 3 * * MON#1', 28 * DAY],
  ])('of %j is %d s', (expression, seconds) => {
    expect(shortestPeriod(readExpression(expression, 'a-cron').clock)).toBe(seconds);
  });

  it('is only looked for as far as somebody needs it', () => {
    const { clock } = readExpression('0 3 29 2 *', 'a-cron');
    expect(shortestPeriod(clock, DAY)).toBe(DAY);
    expect(shortestPeriod(clock, DAY + 1)).toBe(1_461 * DAY);
  });
});
