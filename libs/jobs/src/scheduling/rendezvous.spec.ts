import { describe, expect, it } from 'vitest';
import { assignBound, candidates, firstOf, hashOf, isBound } from './rendezvous.js';

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

describe('a pod with half the weight', () => {
  const [slow = ''] = podsOf(5);
  const weighted = candidates(podsOf(5), new Map([[slow, 1 / 2]]));

  it('gets half as many crons as each of the others', () => {
    const shares = CRONS.map((cron) => firstOf(hashOf(cron), weighted));
    const share = shares.filter((pod) => pod === slow).length;
    expect(Math.abs(share - CRONS.length / 9)).toBeLessThan((0.1 * CRONS.length) / 9);
  });

  it('gives crons to all the others, and no other cron moves', () => {
    const before = sharesOf(podsOf(5));
    const moved = CRONS.filter((cron) => firstOf(hashOf(cron), weighted) !== before.get(cron));
    for (const cron of moved) expect(before.get(cron)).toBe(slow);
    const takers = moved.map((cron) => firstOf(hashOf(cron), weighted));
    for (const pod of podsOf(5).slice(1)) expect(takers.filter((taker) => taker === pod).length).toBeGreaterThan(150);
  });

  it('changes nothing where all have it', () => {
    const equal = candidates(podsOf(5), new Map(podsOf(5).map((pod) => [pod, 1 / 4])));
    expect(equal).toEqual(candidates(podsOf(5)));
  });
});

describe('the balance', () => {
  const named = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `tenant-${n % 37}-${n}`, hash: hashOf(`tenant-${n % 37}-${n}`) }));

  function assigned(count: number, pods: readonly string[], weights = new Map<string, number>()): Map<string, string> {
    const [crons, there] = [named(count), candidates(pods, weights)];
    if (isBound(count, pods.length)) return assignBound(crons, there);
    return new Map(crons.map(({ name, hash }) => [name, firstOf(hash, there) ?? '']));
  }

  function countsOf(shares: ReadonlyMap<string, string>): number[] {
    const counts = new Map<string, number>();
    for (const pod of shares.values()) counts.set(pod, (counts.get(pod) ?? 0) + 1);
    return [...counts.values()];
  }

  const movedFrom = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) =>
    [...before].filter(([cron, pod]) => after.get(cron) !== pod).length;

  it.each([
    [50, 1_000],
    [20, 1_000],
    [100, 5_000],
    [50, 9_999],
    [50, 10_000],
    [50, 100_000],
  ])('of %i pods and %i crons: the fullest has at most a quarter more than the mean', (pods, crons) => {
    const counts = countsOf(assigned(crons, podsOf(pods)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(crons);
    expect(Math.max(...counts) / (crons / pods)).toBeLessThanOrEqual(1.25);
  });

  it.each([20, 50])('of %i pods survives a pod that joins or leaves: little more moves than has to', (count) => {
    const [before, pods] = [assigned(1_000, podsOf(count)), podsOf(count + 1)];
    const own = [...before.values()].filter((pod) => pod === pods[0]).length;
    expect(movedFrom(before, assigned(1_000, pods))).toBeLessThanOrEqual((1.6 * 1_000) / (count + 1));
    expect(movedFrom(before, assigned(1_000, pods.slice(1, -1)))).toBeLessThanOrEqual(1.6 * own);
  });

  it('is kept while one more cron comes: no more than a pod has move', () => {
    const before = assigned(1_000, podsOf(50));
    for (let more = 1; more <= 50; more += 1) {
      expect(movedFrom(before, assigned(1_000 + more, podsOf(50)))).toBeLessThanOrEqual(20);
    }
  });

  it('does not depend on the order of pods and crons, and names decide between equal hashes', () => {
    const crons = [...named(500), { name: 'b', hash: 1 }, { name: 'a', hash: 1 }, { name: 'c', hash: 1 }];
    const pods = candidates(podsOf(50));
    const forwards = assignBound(crons, pods);
    expect(assignBound(crons.toReversed(), candidates(podsOf(50).toReversed()))).toEqual(forwards);
  });

  it('leaves room for a share according to the weight', () => {
    const [slow = ''] = podsOf(50);
    const counts = new Map<string, number>();
    for (const pod of assigned(1_000, podsOf(50), new Map([[slow, 1 / 4]])).values()) {
      counts.set(pod, (counts.get(pod) ?? 0) + 1);
    }
    expect(counts.get(slow)).toBeLessThanOrEqual(Math.ceil((1.2 * 1_000) / 4 / 49.25));
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(25);
  });
});
