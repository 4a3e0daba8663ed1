import { CronExpressionParser } from 'cron-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atMost } from '../../../test/support/run-length.js';
import { parseSchedule, ScheduleError, type ScheduleText } from './schedule.js';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

function read(expression: string, over: Partial<ScheduleText> = {}) {
  return parseSchedule({ expression, timeZone: 'UTC', seed: 'poll', ...over }, NOW);
}

/** Counted one by one from 1970 on, no instant known but the one before. */
function counted(seconds: number, from: number, to: number): number[] {
  const found: number[] = [];
  const nearest = from - (((from % (seconds * 1_000)) + seconds * 1_000) % (seconds * 1_000));
  for (let at = nearest; at < to; at += seconds * 1_000) if (at >= from) found.push(at);
  return found;
}

const UNITS = [
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
] as const;

const intervals = fc.constantFrom(...UNITS).chain(([unit, seconds]) =>
  fc.integer({ min: 1, max: Math.min(100_000, (365 * 86_400) / seconds) }).map((amount) => ({
    text: `@every ${amount}${unit}`,
    seconds: amount * seconds,
  })),
);

const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/New_York'];

describe('an interval', () => {
  it('has the multiples since 1970-01-01T00:00:00Z, forwards and backwards, in every zone and from everywhere', () => {
    const start = fc.integer({ min: -50 * 366 * DAY, max: 100 * 366 * DAY });
    const property = fc.property(intervals, start, fc.constantFrom(...ZONES), ({ text, seconds }, from, timeZone) => {
      const schedule = read(text, { timeZone });
      const to = from + 20 * seconds * 1_000;
      const expected = counted(seconds, from, to);
      expect([...schedule.between(from, to)]).toEqual(expected);
      const backwards: number[] = [];
      for (let at = schedule.previous(to); at !== null && at >= from; at = schedule.previous(at)) backwards.unshift(at);
      expect(backwards).toEqual(expected);
      expect(expected.every((at) => at % (seconds * 1_000) === 0)).toBe(true);
    });
    fc.assert(property, atMost(600));
  });

  it('is one whole period apart where the clocks of its zone change', () => {
    const schedule = read('@every 90m', { timeZone: 'Europe/Berlin' });
    const instants = [...schedule.between(Date.UTC(2026, 2, 28), Date.UTC(2026, 2, 31))];
    expect(new Set(instants.slice(1).map((at, n) => at - (instants[n] ?? 0)))).toEqual(new Set([5_400_000]));
  });

  it('is spread below its period, and counts for the least interval', () => {
    expect(read('@every 30s', { spreadMs: 600_000 })).toMatchObject({ spreadOverMs: 30_000, kind: 'interval' });
    expect(() => read('@every 30s', { minIntervalMs: 60_000 })).toThrow('an interval of at least 60 s, and not 30 s');
  });

  it.each(['0s', '0d', '-5s', '30', '1.5h', '500ms', '366d', '999999999d', '30 s', '', 's', '5M', '30s 30s'])(
    'of "%s" is refused',
    (text) => {
      expect(() => read(`@every ${text}`)).toThrow(ScheduleError);
      expect(() => read(`@every ${text}`)).toThrow("an interval from '1s' to '365d'");
    },
  );

  it.each<[string, Partial<ScheduleText>]>([
    ['zone', { timeZone: 'Mars' }],
    ['seed', { seed: '' }],
    ['rule for changed clocks', { dst: { gap: 'never' as 'skip' } }],
    ['spread', { spreadMs: -1 }],
  ])('makes no wrong %s right', (_what, over) => {
    expect(() => read('@every 30s', over)).toThrow(ScheduleError);
  });

  it('is nothing that a build from before it reads as another schedule: its parser refuses it', () => {
    for (const text of ['@every 30s', ' @every 1d ', '@every 5m']) {
      expect(() => CronExpressionParser.parse(text.trim(), { tz: 'UTC', hashSeed: 'poll' })).toThrow(/./);
    }
  });
});
