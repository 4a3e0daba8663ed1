import { expect, it } from 'vitest';
import { daysOf, densityOf, type Hour } from './days.js';

const HOUR_MS = 3_600_000;

function hours(from: string, counts: readonly number[]): Hour[] {
  return counts.map((count, n) => {
    const at = new Date(Date.parse(from) + n * HOUR_MS).toISOString();
    return { at, count, peak: count, peakAt: count === 0 ? null : at };
  });
}

it('hours stand in the column of the clock, and those outside the forecast are empty', () => {
  const [first, second] = daysOf(hours('2026-11-23T20:00:00.000Z', [1, 2, 3, 4, 5]), 'Europe/Berlin');
  expect(first?.name).toBe('Mon 23 Nov');
  expect(first?.hours.map((hour) => hour?.count ?? null).slice(20)).toEqual([null, 1, 2, 3]);
  expect(second?.hours.map((hour) => hour?.count ?? null).slice(0, 3)).toEqual([4, 5, null]);
  expect([first?.count, second?.count]).toEqual([6, 9]);
});

it('the hour that comes twice when clocks go back is one column with the runs of both', () => {
  const [day] = daysOf(hours('2026-10-25T00:00:00.000Z', [1, 7, 2]), 'Europe/Berlin');
  expect(day?.hours[2]).toMatchObject({ at: '2026-10-25T00:00:00.000Z', count: 8, peak: 7 });
  expect(day?.hours[2]?.peakAt).toBe('2026-10-25T01:00:00.000Z');
  expect(day?.hours[3]?.count).toBe(2);
});

it('the hour that is left out when clocks go forward has no cell', () => {
  const [day] = daysOf(hours('2026-03-29T00:00:00.000Z', [1, 2]), 'Europe/Berlin');
  expect(day?.hours.slice(1, 4).map((hour) => hour?.count ?? null)).toEqual([1, null, 2]);
});

it('a density tells apart one, ten and ten thousand, and nothing from something', () => {
  expect([0, 1, 10, 10_000].map((count) => densityOf(count, 10_000))).toEqual([0, 1, 2, 5]);
  expect(densityOf(1, 1)).toBe(5);
});
