import { describe, expect, it } from 'vitest';
import { parseSchedule, spreadOf, ScheduleError, type ScheduleText } from './schedule.js';

const names = Array.from({ length: 2_000 }, (_, n) => `cron-${n}`);

describe('a spread', () => {
  it('is the same for a name for ever', () => {
    expect(spreadOf('nightly-report', 600_000)).toBe(331751);
    expect(spreadOf('invoices', 600_000)).toBe(363896);
  });

  it('is a whole number of milliseconds from 0 up to what was asked for', () => {
    for (const most of [1, 2, 999, 600_000, 86_400_000]) {
      const found = names.map((name) => spreadOf(name, most));
      expect(found.every((ms) => Number.isInteger(ms) && ms >= 0 && ms < most)).toBe(true);
    }
    expect(spreadOf('nightly-report', 0)).toBe(0);
  });

  it('puts about as many crons into each of ten parts', () => {
    const parts = Array.from({ length: 10 }, () => 0);
    for (const name of names) parts[Math.floor(spreadOf(name, 600_000) / 60_000)]! += 1;
    expect(Math.min(...parts)).toBeGreaterThan(150);
    expect(Math.max(...parts)).toBeLessThan(250);
  });

  it('is less than the shortest period, so that a cron is due before its next instant', () => {
    const spreads = names.slice(0, 200).map((seed) => {
      const text = { expression: '* * * * *', timeZone: 'UTC', seed, spreadMs: 3_600_000 };
      return parseSchedule(text, 0).spreadMs;
    });
    expect(Math.max(...spreads)).toBeLessThan(60_000);
    expect(Math.max(...spreads)).toBeGreaterThan(50_000);
  });

  it('is none when nobody asks for one', () => {
    expect(parseSchedule({ expression: '* * * * *', timeZone: 'UTC', seed: 'a-cron' }, 0).spreadMs).toBe(0);
  });
});

const NOW = Date.UTC(2026, 0, 1);

function read(over: Partial<ScheduleText> = {}) {
  return parseSchedule({ expression: '@manual', timeZone: 'UTC', seed: 'send-invoice', ...over }, NOW);
}

describe('the expression @manual', () => {
  it('has no instant, neither before nor after nor in between', () => {
    const schedule = read();
    expect(schedule.next(NOW)).toBeNull();
    expect(schedule.previous(NOW)).toBeNull();
    expect([...schedule.between(0, 8e15)]).toEqual([]);
  });

  it('is never put off, whatever spread is asked for', () => {
    expect(read({ spreadMs: 60_000 })).toMatchObject({ spreadMs: 0, spreadOverMs: 0, kind: 'interval' });
  });

  it('comes at no distance that could be too short', () => {
    expect(read({ minIntervalMs: 60_000 }).next(NOW)).toBeNull();
  });

  it('may have spaces around it, as every expression', () => {
    expect(read({ expression: ' @manual ' }).next(NOW)).toBeNull();
  });

  it.each<[string, Partial<ScheduleText>, string]>([
    ['zone', { timeZone: 'Mars' }, 'timeZone'],
    ['seed', { seed: '' }, 'seed'],
    ['rule for changed clocks', { dst: { gap: 'never' as 'skip' } }, 'dst'],
    ['spread', { spreadMs: -1 }, 'spreadMs'],
    ['distance', { minIntervalMs: 0.5 }, 'minIntervalMs'],
  ])('makes no wrong %s right', (_what, over, part) => {
    expect(() => read(over)).toThrow(ScheduleError);
    expect(() => read(over)).toThrow(part);
  });
});
