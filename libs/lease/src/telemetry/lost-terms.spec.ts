import { describe, expect, it } from 'vitest';
import { parseFence } from '../base/fence.js';
import { LostTerms, type EndOfTerm } from './lease-events.js';

const lost = (fence: string, resource = 'r'): EndOfTerm => ({
  ...{ name: 'lease.lost', resource, holder: 'pod/1', fence: parseFence(fence), reason: 'expired', heldMs: 1 },
});
const released = (fence: string, resource = 'r'): EndOfTerm => ({
  ...{ name: 'lease.released', resource, holder: 'pod/1', fence: parseFence(fence), heldMs: 1 },
});

describe('the terms that were lost', () => {
  it('tell a release after a loss from a release that ends the term', () => {
    const terms = new LostTerms();
    const events = [released('1'), lost('2'), released('2'), released('3'), lost('4'), released('4', 'other')];
    expect(events.map((event) => terms.isFirstEnd(event))).toEqual([true, true, false, true, true, true]);
  });

  it('are remembered in a bounded number', () => {
    const terms = new LostTerms();
    for (let n = 1; n <= 10_001; n += 1) terms.isFirstEnd(lost(String(n)));
    expect(terms.isFirstEnd(released('2'))).toBe(false);
    expect(terms.isFirstEnd(released('1'))).toBe(true);
  });
});
