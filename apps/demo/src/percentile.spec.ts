import { describe, expect, it } from 'vitest';
import { percentile } from './percentile.js';

describe('a percentile by nearest rank', () => {
  it.each([
    { values: [], percent: 50, is: null },
    { values: [7], percent: 1, is: 7 },
    { values: [7], percent: 99, is: 7 },
    { values: [3, 1, 2], percent: 50, is: 2 },
    { values: [4, 3, 2, 1], percent: 50, is: 2 },
    { values: [100, 9, 20], percent: 99, is: 100 },
    { values: Array.from({ length: 200 }, (_, n) => n + 1), percent: 99, is: 198 },
  ])('of $values.length values at $percent is $is', ({ values, percent, is }) => {
    expect(percentile(values, percent)).toBe(is);
  });
});
