import { describe, expect, it } from 'vitest';
import { candidates, firstOf, hashOf } from './rendezvous.js';

const CRONS = Array.from({ length: 10_000 }, (_, n) => `cron-${n}`);

function sharesOf(pods: readonly string[]): Map<string, string | null> {
  const there = candidates(pods);
  return new Map(CRONS.map((cron) => [cron, firstOf(hashOf(cron), there)]));
}

const podsOf = (count: number) => Array.from({ length: count }, (_, n) => `scheduler-7c9f-${n}/3f0a91b2c${n}`);

describe('rendezvous hashing', () => {
  it.each([2, 3, 10])('shares evenly between %i pods', (count) => {
    const shares = [...sharesOf(podsOf(count)).values()];
    for (const pod of podsOf(count)) {
      const share = shares.filter((owner) => owner === pod).length;
      expect(Math.abs(share - CRONS.length / count)).toBeLessThan((0.1 * CRONS.length) / count);
    }
  });

  it('moves to a pod that joins the crons it ranks first for, and nothing else', () => {
    const [before, after] = [sharesOf(podsOf(4)), sharesOf(podsOf(5))];
    const moved = CRONS.filter((cron) => before.get(cron) !== after.get(cron));
    for (const cron of moved) expect(after.get(cron)).toBe(podsOf(5)[4]);
    expect(Math.abs(moved.length - CRONS.length / 5)).toBeLessThan(CRONS.length / 50);
  });

  it('moves the crons of a pod that leaves, and spreads them over all the others', () => {
    const [before, after] = [sharesOf(podsOf(5)), sharesOf(podsOf(4))];
    const moved = CRONS.filter((cron) => before.get(cron) !== after.get(cron));
    for (const cron of moved) expect(before.get(cron)).toBe(podsOf(5)[4]);
    for (const pod of podsOf(4)) expect(moved.filter((cron) => after.get(cron) === pod).length).toBeGreaterThan(300);
  });

  it('does not depend on the order of the pods', () => {
    expect(sharesOf(podsOf(5).toReversed())).toEqual(sharesOf(podsOf(5)));
  });

  it('assigns nothing without members', () => {
    expect(firstOf(hashOf('cron'), [])).toBeNull();
  });
});
