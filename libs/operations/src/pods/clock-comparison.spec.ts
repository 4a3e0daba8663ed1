import { describe, expect, it } from 'vitest';
import { ClockComparison } from './clock-comparison.js';

const NOW = Date.UTC(2030, 0, 1);

/** An answer to a question that was sent at a time, to somebody whose clock is so far behind. */
function heard(skewMs: number, { way = 5, back = way }: { readonly way?: number; readonly back?: number } = {}) {
  return { sentAt: NOW + skewMs, rttMs: way + back, theirs: NOW + way };
}

describe('the comparison of two clocks', () => {
  it('takes the answer for one from the middle of the round trip', () => {
    const comparison = new ClockComparison();
    expect(comparison.best).toBeNull();
    comparison.hear(heard(250));
    expect(comparison.best).toEqual({ skewMs: 250, rttMs: 10 });
    comparison.hear(heard(-250));
    expect(comparison.best?.skewMs).toBe(-250);
  });

  it('is off by no more than half a round trip, however the way is shared', () => {
    const comparison = new ClockComparison();
    comparison.hear(heard(100, { way: 80, back: 0 }));
    expect(comparison.best?.skewMs).toBe(60);
  });

  it('believes the quickest of the last answers', () => {
    const comparison = new ClockComparison();
    for (const reading of [heard(100, { way: 90, back: 2 }), heard(100, { way: 1 }), heard(100, { way: 2, back: 60 })])
      comparison.hear(reading);
    expect(comparison.best).toEqual({ skewMs: 100, rttMs: 2 });
    for (let n = 0; n < 4; n += 1) comparison.hear(heard(101, { way: 3 }));
    expect(comparison.best).toEqual({ skewMs: 101, rttMs: 6 });
  });

  it('believes the last answer alone when a clock was set', () => {
    const comparison = new ClockComparison();
    comparison.hear(heard(0, { way: 1 }));
    comparison.hear(heard(5_000, { way: 20 }));
    expect(comparison.best).toEqual({ skewMs: 5_000, rttMs: 40 });
  });
});
