import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.js';

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    [0, 0],
    [1_000, 1_000],
    [60_000, 60_000],
  ])('reads %j as %d ms', (value, milliseconds) => {
    expect(parseDuration(value)).toBe(milliseconds);
  });

  it.each(['', '10', '10 s', '-1s', '1w', 's', '0.5ms', '1e3s', -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %j and says what it expected',
    (value) => {
      expect(() => parseDuration(value)).toThrow(
        `Expected a duration such as '500ms', '10s', '5m', '2h' or '1d', or a whole number of milliseconds, got`,
      );
    },
  );

  it.each([1, 60, 300, 999])(
    'refuses the bare number %d, which may be seconds, and says how to write either',
    (value) => {
      expect(() => parseDuration(value)).toThrow(
        `Expected a duration with its unit: '${value}s' or '${value}ms', got ${value}.`,
      );
    },
  );
});
