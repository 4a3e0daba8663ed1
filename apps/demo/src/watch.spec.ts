import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { Aftermath } from './aftermath.js';
import { Archive } from './archive.js';
import type { Happening } from './happening.js';
import type { Observer } from './observer.js';
import type { Sight } from './sight.js';
import { aCron, aSight, holding } from './testing/stage.js';
import { Watch } from './watch.js';

function stage(look: () => Promise<Sight>) {
  const clock = new ManualClock();
  const told: Happening[] = [];
  const archive = new Archive();
  const evidence = (sight: Sight, end: number) => ({ end, crons: [], writes: new Map(), turnedDown: sight.turnedDown });
  const observer = { archive, look, evidence } as unknown as Observer;
  const aftermath = new Aftermath();
  const watch = new Watch({ observer, aftermath, clock, tell: (happening) => told.push(happening) });
  return { clock, told, watch, aftermath, archive };
}

describe('a watch', () => {
  it('looks several times a second and tells each thing once', async () => {
    let looks = 0;
    const { clock, told, watch } = stage(async () => {
      looks += 1;
      return aSight([aCron({ holding: holding('scheduler-1/a') })]);
    });
    const end = new AbortController();
    const over = watch.run(end.signal);
    await clock.advance(1_000);
    end.abort();
    await over;
    expect(looks).toBeGreaterThan(3);
    expect(told.map(({ text }) => text)).toEqual(['scheduler-1 holds pulse under fence …10']);
    expect(clock.pending).toBe(0);
  });

  it('tells a takeover with its cause, and not once more without', async () => {
    let holder = 'scheduler-1/a';
    const { clock, told, watch, aftermath, archive } = stage(async () =>
      aSight([aCron({ holding: holding(holder) })], { at: clock.now() }),
    );
    const end = new AbortController();
    const over = watch.run(end.signal);
    await clock.advance(300);
    aftermath.begin({ pod: 'scheduler-1', what: 'killed scheduler-1', at: clock.now() }, watch.sight, archive);
    holder = 'scheduler-2/b';
    await clock.advance(500);
    end.abort();
    await over;
    expect(told.slice(1).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^killed scheduler-1 \(held pulse\) → scheduler-2 took pulse over after \d+ ms$/),
    ]);
  });

  it('bears a Redis that is away for a moment, and says so once', async () => {
    let away = true;
    const { clock, told, watch } = stage(() =>
      away ? Promise.reject(new Error('gone')) : Promise.resolve(aSight([])),
    );
    const end = new AbortController();
    const over = watch.run(end.signal);
    await clock.advance(5_000);
    away = false;
    await clock.advance(5_000);
    away = true;
    await clock.advance(5_000);
    end.abort();
    await over;
    expect(told.map(({ text }) => text)).toEqual(Array(2).fill('Redis does not answer: gone'));
  });

  it('gives up when Redis stays away', async () => {
    const { clock, watch } = stage(() => Promise.reject(new Error('gone')));
    const over = watch.run(new AbortController().signal).catch((error: unknown) => String(error));
    await clock.advance(11_000);
    expect(await over).toContain('Redis has not answered for 10 s (gone)');
    expect(clock.pending).toBe(0);
  });
});
