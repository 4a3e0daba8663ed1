import { afterEach, describe, expect, it, vi } from 'vitest';
import { mishapsOf, play, replayLine } from './replay.js';

const SEEDS = [7, 42];

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a world', () => {
  it.each(SEEDS)('of seed %i is the same each time, whatever was played before it', async (seed) => {
    const first = await play({ seed, days: 1 });
    await play({ seed: seed + 1, days: 1 });
    const again = await play({ seed, days: 1 });
    expect([again.hash, again.calls]).toEqual([first.hash, first.calls]);
  });

  it('of another seed is another one', async () => {
    const [one, other] = [await play({ seed: 1, days: 1 }), await play({ seed: 2, days: 1 })];
    expect(one.hash).not.toBe(other.hash);
  });

  it('without its mishaps is another one, and a quiet one', async () => {
    const { hash, sometimes, violation } = await play({ seed: 7, days: 1, only: [] });
    expect(hash).not.toBe((await play({ seed: 7, days: 1 })).hash);
    expect(violation).toBeNull();
    expect(sometimes.counts.crash).toBe(0);
  });

  it('follows neither the time nor the luck of the real one, and waits for none of its timers', async () => {
    const { hash } = await play({ seed: 7, days: 1 });
    let wild = 0;
    // The parser of expressions asks for the time and makes no use of it; whoever did would get another one each time.
    vi.spyOn(Date, 'now').mockImplementation(() => (wild += 86_400_000));
    vi.spyOn(performance, 'now').mockImplementation(() => (wild += 1_000));
    vi.spyOn(Math, 'random').mockImplementation(() => ((wild += 1) % 1_000) / 1_000);
    const timer = () => {
      throw new Error('a real timer was started');
    };
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(timer);
    vi.spyOn(globalThis, 'setInterval').mockImplementation(timer);
    const wildly = await play({ seed: 7, days: 1 });
    expect(wildly.violation).toBeNull();
    expect(wildly.hash).toBe(hash);
  });
});

describe('a plan', () => {
  it('keeps every other mishap as it is when some are left out', () => {
    const all = mishapsOf({ seed: 5, days: 1 });
    const only = [2, 5, 9];
    expect(mishapsOf({ seed: 5, days: 1, only })).toEqual(all.filter(({ index }) => only.includes(index)));
  });

  it('is told by the line that replays it', () => {
    expect(replayLine({ seed: 7, days: 2 })).toBe('npm run sim -- --seed 7 --days 2');
    expect(replayLine({ seed: 7, days: 1, only: [3, 9, 12] })).toBe('npm run sim -- --seed 7 --days 1 --only 3,9,12');
    expect(replayLine({ seed: 7, days: 1, only: [] })).toBe('npm run sim -- --seed 7 --days 1 --only none');
  });
});
