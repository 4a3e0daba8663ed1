import { describe, expect, it } from 'vitest';
import { parseSchedule, spreadOf } from './schedule.js';

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
