import { describe, expect, it } from 'vitest';
import { seededRandom } from './seeded-random.js';

function first(seed: number, amount: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: amount }, () => random());
}

describe('random numbers from a seed', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(first(7, 5)).toEqual(first(7, 5));
    expect(first(7, 5)).not.toEqual(first(8, 5));
  });

  it('lie evenly from 0 up to 1', () => {
    const numbers = first(1, 10_000);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    const tenths = Array.from({ length: 10 }, (_, n) => numbers.filter((x) => Math.floor(x * 10) === n).length);
    for (const amount of tenths) expect(Math.abs(amount - 1_000)).toBeLessThan(150);
  });
});
