import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DurationHistogram } from './duration-histogram.js';

function histogramOf(durations: Iterable<number>): DurationHistogram {
  const histogram = new DurationHistogram();
  for (const ms of durations) histogram.add(ms);
  return histogram;
}

describe('a histogram of durations', () => {
  it('answers a quantile never below the exact one and at most 2 % above it', () => {
    const durations = fc.array(fc.double({ min: 0.1, max: 86_400_000, noNaN: true }), { minLength: 1, maxLength: 500 });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.001, 0.5, 0.9, 0.99, 0.999, 1), (all, q) => {
        const exact = all.toSorted((a, b) => a - b)[Math.ceil(q * all.length) - 1] ?? 0;
        const found = histogramOf(all).quantile(q);
        // A hair more than the bounds, for the arithmetic's own error.
        expect(found).toBeGreaterThanOrEqual(exact * (1 - 1e-9));
        expect(found).toBeLessThanOrEqual(exact * (1.02 + 1e-9));
      }),
    );
  });

  it('forgets durations older than the last 10,000', () => {
    const histogram = histogramOf(Array.from({ length: 5_000 }, () => 60_000));
    expect(histogram.quantile(0.5)).toBeGreaterThan(50_000);
    for (let n = 0; n < 5_000; n += 1) histogram.add(10);
    expect(histogram.quantile(0.999)).toBeLessThan(11);
    expect(histogram.samples).toBe(5_000);
  });

  it('counts a duration below a tenth of a millisecond as one, and a duration of days as 78 hours', () => {
    expect(histogramOf([0, -5]).quantile(1)).toBeCloseTo(0.1);
    expect(histogramOf([1e12]).quantile(1) / 3_600_000).toBeCloseTo(78.6, 1);
  });

  it('ignores a duration that is not a finite number, and answers 0 while it is empty', () => {
    const histogram = histogramOf([Number.NaN, Number.POSITIVE_INFINITY]);
    expect([histogram.samples, histogram.quantile(0.5)]).toEqual([0, 0]);
  });
});
