import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { QuorumAnnouncements } from './quorum-announcements.js';
import { QuorumRecent } from './quorum-floors.js';
import { nodeTimeout } from './quorum-options.js';

describe('the announcements of five nodes', () => {
  const heardOf = (nodes: string): number => {
    let heard = 0;
    const announcements = new QuorumAnnouncements({
      clock: new ManualClock(),
      majority: 3,
      onReleased: () => (heard += 1),
    });
    for (const node of nodes) announcements.hear(node, 'r');
    return heard;
  };

  it.each([
    ['abcde', 1],
    ['ab', 0],
    ['aaaa', 0],
    ['abcdeabcde', 2],
    ['aabbccddee', 2],
    ['abcabcde', 2],
    ['abac', 1],
  ])('that come as %s are of %i releases', (nodes, releases) => {
    expect(heardOf(nodes)).toBe(releases);
  });
});

describe('what a quorum remembers', () => {
  const recent = new QuorumRecent<number>(10);
  for (let n = 0; n < 1_000; n++) recent.set(`key-${n}`, n);
  const known = Array.from({ length: 1_000 }, (_, n) => recent.get(`key-${n}`)).filter((value) => value !== undefined);

  it('is at least as much as was asked for, the last of all', () => {
    expect(known.slice(-10)).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
  });

  it('is at most twice as much', () => {
    expect(known.length).toBeLessThanOrEqual(20);
  });
});

describe('how long one node of a quorum may take', () => {
  it('is a twentieth of the ttl from 50 to 500 ms, and never more than a quarter of it', () => {
    const unset = [300, 2_000, 60_000].map((ttlMs) => nodeTimeout(ttlMs, undefined));
    expect(unset).toEqual([50, 100, 500]);
    expect(nodeTimeout(120, undefined)).toBe(30);
    expect([500, 2_000].map((configuredMs) => nodeTimeout(4_000, configuredMs))).toEqual([500, 1_000]);
  });
});
