import { describe, expect, it } from 'vitest';
import { parseSchedule, ScheduleTextError } from './schedule.js';

const NOW = Date.parse('2026-03-28T12:00:00Z');
const at = (iso: string) => Date.parse(iso);

function schedule(expression: string, timeZone = 'UTC', seed = 'a-cron') {
  return parseSchedule({ expression, timeZone, seed }, NOW);
}

describe('a schedule', () => {
  it('gives the first instant strictly after the one it is asked about', () => {
    const everySecond = schedule('* * * * * *');
    expect(everySecond.next(1_000)).toBe(2_000);
    expect(everySecond.next(1_001)).toBe(2_000);
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

  it('seeds H with the name: stable for one cron, spread over many', () => {
    const minute = (seed: string) => schedule('H H * * *', 'UTC', seed).next(NOW);
    expect(minute('nightly-report')).toBe(minute('nightly-report'));
    const spread = new Set(Array.from({ length: 20 }, (_, i) => minute(`cron-${i}`)));
    expect(spread.size).toBeGreaterThan(15);
  });

  it('stays strictly increasing through a change of the clocks of thirty minutes', () => {
    const lordHowe = schedule('*/10 * * * *', 'Australia/Lord_Howe');
    let instant = at('2026-04-04T12:00:00Z');
    for (let i = 0; i < 100; i += 1) {
      const next = lordHowe.next(instant) ?? 0;
      expect(next).toBeGreaterThan(instant);
      instant = next;
    }
  });

  it.each([
    ['61 * * * *', 'UTC', 'expression'],
    ['* * *', 'UTC', 'expression'],
    ['', 'UTC', 'expression'],
    ['0 0 30 2 *', 'UTC', 'expression'],
    [`${'0,'.repeat(200)}0 * * * *`, 'UTC', 'expression'],
    ['nonsense at all here ok', 'UTC', 'expression'],
    ['* * * * *', 'Mars/Phobos', 'timeZone'],
    ['* * * * *', 'UTC+99', 'timeZone'],
    ['* * * * *', '+05:30', 'timeZone'],
  ])('refuses "%s" in %s and names the part that is wrong', (expression, timeZone, part) => {
    const refused = expect.objectContaining({ part });
    expect(() => schedule(expression, timeZone)).toThrowError(ScheduleTextError);
    expect(() => schedule(expression, timeZone)).toThrowError(refused);
  });
});
