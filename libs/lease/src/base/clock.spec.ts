import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { throttled } from './clock.js';

describe('throttled', () => {
  it('tells the first at once, then one per window with the number held back', async () => {
    const clock = new ManualClock();
    const told: string[] = [];
    const report = throttled((message) => told.push(message), { clock, windowMs: 5_000 });
    report('one');
    report('two');
    report('three');
    await clock.advance(4_999);
    report('four');
    await clock.advance(1);
    report('five');
    expect(told).toEqual(['one', 'five (and 3 more since the last report)']);
    await clock.advance(5_000);
    report('six');
    expect(told.at(-1)).toBe('six');
  });
});
