import { describe, expect, it } from 'vitest';
import { QuorumRecent } from './quorum-floors.js';

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
