import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QuantileSketch, RELATIVE_ERROR } from './quantile-sketch.js';

const QUANTILES = [0.001, 0.5, 0.9, 0.99, 0.999, 1];

/** The smallest value that at least the part `q` of all values doesn't exceed. */
function exact(q: number, values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(q * values.length) - 1] ?? 0;
}

function sketchOf(values: Iterable<number>): QuantileSketch {
  const sketch = new QuantileSketch();
  for (const value of values) sketch.add(value);
  return sketch;
}

function expectClose(found: number, wanted: number): void {
  // A hair more than the bounds, for the arithmetic's own error.
  expect(found).toBeGreaterThanOrEqual(wanted * (1 - 1e-9));
  expect(found).toBeLessThanOrEqual(wanted * (1 + RELATIVE_ERROR + 1e-9));
}

// A factor of 10,000, which is as far apart as all values may lie for the lowest quantile to be exact too.
const aValue = fc.double({ min: 1, max: 10_000, noNaN: true });
const someValues = fc.array(aValue, { minLength: 1, maxLength: 500 });

describe('a quantile sketch', () => {
  it('is never below the exact quantile, and at most two per cent above it', () => {
    fc.assert(
      fc.property(someValues, fc.double({ min: 0.01, max: 1_000, noNaN: true }), (values, scale) => {
        const scaled = values.map((value) => value * scale);
        const found = sketchOf(scaled).quantiles(QUANTILES);
        for (const [at, q] of QUANTILES.entries()) expectClose(found[at]!, exact(q, scaled));
      }),
    );
  });

  it('answers for two sketches what it answers for one that has seen it all', () => {
    fc.assert(
      fc.property(someValues, someValues, (some, others) => {
        const together = sketchOf([...some, ...others]);
        const apart = sketchOf(some).with(sketchOf(others));
        expect(apart.quantiles(QUANTILES)).toEqual(together.quantiles(QUANTILES));
      }),
    );
  });

  it('keeps the high quantiles when the values lie further apart than it has buckets for', () => {
    const values = Array.from({ length: 20_000 }, (_, n) => 1.001 ** n);
    const sketch = sketchOf(values);
    const [low, ...high] = sketch.quantiles([0.001, 0.9, 0.99, 0.999]);
    for (const [at, q] of [0.9, 0.99, 0.999].entries()) expectClose(high[at]!, exact(q, values));
    expect(low).toBeGreaterThan(exact(0.1, values));
  });

  it('counts no more than it can tell: not a number, endless, or shorter than a hundredth of a millisecond', () => {
    const sketch = sketchOf([Number.NaN, Number.POSITIVE_INFINITY, 0, -5]);
    expect(sketch.count).toBe(2);
    expectClose(sketch.quantiles([1])[0], 0.01);
    expect(new QuantileSketch().quantiles([0.5])).toEqual([0]);
  });
});
