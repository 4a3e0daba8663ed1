import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { mishapsOf, play, replayLine } from './replay.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a world', () => {
  let [hash, calls, other] = ['', 0, ''];
  beforeAll(async () => {
    ({ hash, calls } = await play({ seed: 7, days: 1 }));
    other = (await play({ seed: 8, days: 1 })).hash;
  });

  it('of a seed is the same each time, whatever was played before it', async () => {
    const again = await play({ seed: 7, days: 1 });
    expect([again.hash, again.calls]).toEqual([hash, calls]);
  });

  it('of another seed is another one', () => {
    expect(other).not.toBe(hash);
  });

  it('without its mishaps is another one, and a quiet one', async () => {
    const { hash: quiet, sometimes, violation } = await play({ seed: 7, days: 1, only: [] });
    expect(quiet).not.toBe(hash);
    expect(violation).toBeNull();
    expect(sometimes.counts.crash).toBe(0);
  });

  it('follows neither the time nor the luck of the real one, and waits for none of its timers', async () => {
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
