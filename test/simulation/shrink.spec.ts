import { describe, expect, it } from 'vitest';
import { shrink } from './shrink.js';

const ITEMS = Array.from({ length: 60 }, (_, n) => n);

describe('shrinking', () => {
  it('finds the few that make it fail together', async () => {
    const fails = async (items: readonly number[]) => [3, 31, 58].every((one) => items.includes(one));
    expect(await shrink({ items: ITEMS, fails, maxTrials: 1_000 })).toEqual([3, 31, 58]);
  });

  it('leaves nothing where nothing is needed', async () => {
    expect(await shrink({ items: ITEMS, fails: async () => true, maxTrials: 1_000 })).toEqual([]);
  });

  it('leaves all where all are needed', async () => {
    const fails = async (items: readonly number[]) => items.length === ITEMS.length;
    expect(await shrink({ items: ITEMS, fails, maxTrials: 1_000 })).toEqual(ITEMS);
  });

  it('gives what it has when its trials are used up, and that fails', async () => {
    let trials = 0;
    const fails = async (items: readonly number[]) => {
      trials += 1;
      return items.includes(42);
    };
    const left = await shrink({ items: ITEMS, fails, maxTrials: 3 });
    expect(trials).toBe(3);
    expect(left).toContain(42);
    expect(left.length).toBeLessThan(ITEMS.length);
  });
});
