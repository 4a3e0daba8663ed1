import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { QuorumAnnouncements } from './quorum-announcements.js';

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
