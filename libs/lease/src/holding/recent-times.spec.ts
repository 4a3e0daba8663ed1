import { describe, expect, it } from 'vitest';
import { RecentTimes } from './recent-times.js';

describe('recent times', () => {
  it('forget what took long before the last 10,000 times', () => {
    const times = new RecentTimes();
    for (let n = 0; n < 5_000; n += 1) times.add(60_000);
    expect(times.quantiles([0.5])[0]).toBeGreaterThan(50_000);
    for (let n = 0; n < 5_000; n += 1) times.add(10);
    expect(times.quantiles([0.999])[0]).toBeLessThan(11);
    expect(times.samples).toBe(5_000);
  });
});
