import { describe, expect, it, vi } from 'vitest';
import { MonthDays } from './day-times.js';
import { parseSchedule, ScheduleError, type ScheduleText, ScheduleTextError } from './schedule.js';
import { Zone } from './zone.js';

const NOW = Date.parse('2026-03-28T12:00:00Z');

function parse(text: Partial<ScheduleText>): unknown {
  try {
    return parseSchedule({ expression: '0 3 * * *', timeZone: 'UTC', seed: 'a-cron', ...text }, NOW);
  } catch (error) {
    return error;
  }
}

const LISTS = Array.from({ length: 60 }, (_, n) => n).join(',');

describe('a schedule that is wrong', () => {
  it.each([
    ['61 * * * *', 'the minute field takes values from 0 to 59'],
    ['0 24 * * *', 'the hour field'],
    ['0 0 0 * *', 'the day-of-month field takes values from 1 to 31'],
    ['0 0 * 13 *', 'the month field takes values from 1 to 12'],
    ['0 0 * * 8', 'the day-of-week field takes values from 0 to 7'],
    ['* * *', '5 or 6 fields'],
    ['* * * * * * *', '5 or 6 fields'],
    ['', '5 or 6 fields'],
    ['   ', '5 or 6 fields'],
    ['@reboot', 'a valid cron expression'],
    ['@daily @daily', '5 or 6 fields'],
    ['nonsense at all here ok', 'the minute field'],
    [`${'0,'.repeat(200)}0 * * * *`, 'at most 256 characters'],
    ['0 0 30 2 *', 'Invalid explicit day of month'],
    ['0 0 31 2,4,6 *', 'within five years'],
    ['0 0 * 2 MON#5', 'within five years'],
    ['1,1 * * * *', 'duplicate values'],
    ['1-5-9 * * * *', 'the minute field'],
    ['5* * * * *', 'the minute field'],
    ['*-5 * * * *', 'the minute field'],
    ['*/90 * * * *', 'the minute field'],
    ['*/0 * * * *', 'the minute field'],
    ['*/5/2 * * * *', 'the minute field'],
    ['1-5/2-3 * * * *', 'the minute field'],
    ['30-10 * * * *', 'the minute field'],
    ['-5 * * * *', 'the minute field'],
    ['1, * * * *', 'the minute field'],
    ['H(50-70) * * * *', 'the minute field'],
    ['H/2abc * * * *', 'the minute field'],
    ['h * * * *', 'the minute field'],
    ['L * * * *', 'the minute field'],
    ['0 0 5L * *', 'the day-of-month field'],
    ['0 0 1W * *', 'the day-of-month field'],
    ['0 0 * MON *', 'the month field'],
    ['0 0 * * JAN', 'the day-of-week field'],
    ['0 0 * * L', 'the day-of-week field'],
    ['0 0 * * 10L', 'the day-of-week field'],
    ['0 0 * * 1-5L', 'the day-of-week field'],
    ['0 0 * * 1#6', 'the day-of-week field'],
    ['0 0 * * 1#2.5', 'the day-of-week field'],
    ['0 0 * * 1,2#3', 'the day-of-week field'],
    ['0 0 * * 5L#2', 'the day-of-week field'],
  ])('is refused for the expression "%s"', (expression, part) => {
    const error = parse({ expression });
    expect(error).toBeInstanceOf(ScheduleTextError);
    expect(error).toMatchObject({ part: 'expression', expected: expect.stringContaining(part) });
    expect((error as Error).message).toMatch(/^Expected expression to be an? [^\n]*\.$/);
  });

  it.each(['Mars/Phobos', 'UTC+99', '+05:30', '-08:00', '', 'Europe/Berlin\n', 'GMT+25', 'constructor'])(
    'is refused for the zone %j',
    (timeZone) => {
      expect(parse({ timeZone })).toMatchObject({ name: 'ScheduleTextError', part: 'timeZone' });
    },
  );

  it.each<[string, Partial<ScheduleText>, string]>([
    ['an empty seed, for which H would be random', { seed: '' }, 'seed'],
    ['a gap rule nobody knows', { dst: { gap: 'later' as 'skip' } }, 'dst'],
    ['a repeat rule nobody knows', { dst: { repeat: 'never' as 'first' } }, 'dst'],
    ['a negative spread', { spreadMs: -1 }, 'spreadMs'],
    ['half a millisecond', { minIntervalMs: 0.5 }, 'minIntervalMs'],
    ['no number at all', { spreadMs: Number.NaN }, 'spreadMs'],
    ['an expression that is no text', { expression: 5 as unknown as string }, 'expression'],
    ['a zone that is no text', { timeZone: null as unknown as string }, 'timeZone'],
  ])('is refused for %s', (_, text, part) => {
    const error = parse(text);
    expect(error).toBeInstanceOf(ScheduleError);
    expect(error).toMatchObject({ part });
  });

  it('is refused when it fires more often than it may', () => {
    const minIntervalMs = 60_000;
    for (const expression of ['* * * * *', '30 */2 * * *', '@daily', '0 0 1 1 *']) {
      expect(parse({ expression, minIntervalMs })).toMatchObject({ expression });
    }
    for (const expression of ['* * * * * *', '0,59 * * * * *', '30,31 0 0 1 1 *']) {
      expect(parse({ expression, minIntervalMs })).toMatchObject({ part: 'expression' });
    }
    const daily = parse({ minIntervalMs: 86_400_001 });
    expect((daily as Error).message).toContain('at least 86400.001 s between instants, and not 86400 s');
  });

  it('says so for a "now" that is no instant', () => {
    const text = { expression: '0 3 * * *', timeZone: 'UTC', seed: 'a-cron' };
    expect(() => parseSchedule(text, Number.NaN)).toThrow(RangeError);
  });
});

/** The months of 400 years, after which the calendar begins again, and a few more. */
const MAX_MONTHS = 5_000;

describe('a hostile expression', () => {
  it.each<[string, Partial<ScheduleText>]>([
    ['lists of everything', { expression: `${LISTS} * * * * *` }],
    ['one list repeated', { expression: `${'1,'.repeat(120)}1 * * * *` }],
    ['many ranges', { expression: `${'0-59,'.repeat(48)}0-59 * * * *` }],
    ['many hashed steps', { expression: `${'H/1,'.repeat(60)}H/1 * * * *` }],
    ['brackets', { expression: `${'H('.repeat(120)} * * * *` }],
    ['a day that never is', { expression: '* * * 31 2,4,6,9,11 *' }],
    ['the hour that gaps swallow', { expression: '30 2 * 3 0L', timeZone: 'Europe/Berlin', dst: { gap: 'skip' } }],
    ['the minutes that gaps swallow', { expression: '* 2 * 3 0L', timeZone: 'Europe/Berlin' }],
    ['a distance of many years', { expression: '0 0 29 2 *', minIntervalMs: 1e12 }],
    ['many days with a distance', { expression: '0 0 * * 1,3,5', minIntervalMs: 2 * 86_400_000 }],
  ])('is answered after few steps: %s', (_, text) => {
    const months = vi.spyOn(MonthDays.prototype, 'bits');
    const intervals = vi.spyOn(Zone.prototype, 'offsetIntervalAt');
    try {
      expect(parse(text)).toBeDefined();
      expect(months.mock.calls.length).toBeLessThan(MAX_MONTHS);
      expect(intervals.mock.calls.length).toBeLessThan(200);
    } finally {
      vi.restoreAllMocks();
    }
  });
});
