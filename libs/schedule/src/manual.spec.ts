import { describe, expect, it } from 'vitest';
import { parseSchedule, ScheduleError, type ScheduleText } from './schedule.js';

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
