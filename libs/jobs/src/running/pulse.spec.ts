import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { Pulse } from './pulse.js';

const EVERY_MS = 3_000;

let clock: ManualClock;
let pulse: Pulse;
let beats: string[];

/** An attempt of this name. */
const joined = (name: string) => {
  const beat = () => void beats.push(`${name} ${clock.monotonic()}`);
  pulse.join(beat);
  return beat;
};

beforeEach(() => {
  clock = new ManualClock();
  pulse = new Pulse(clock, EVERY_MS);
  beats = [];
});

describe('a pulse', () => {
  it('lets attempts that began at different times beat at the same time, with one timer', async () => {
    joined('a');
    await clock.advance(1_000);
    joined('b');
    expect([clock.pending, pulse.nextAt]).toEqual([1, EVERY_MS]);
    await clock.advance(EVERY_MS * 2 - 1_000);
    expect(beats).toEqual(['a 3000', 'b 3000', 'a 6000', 'b 6000']);
  });

  it('beats no more for who has left, and leaves no timer behind when all have', async () => {
    const [a, b] = [joined('a'), joined('b')];
    pulse.leave(a);
    await clock.advance(EVERY_MS);
    expect(beats).toEqual(['b 3000']);
    pulse.leave(b);
    pulse.leave(b);
    expect(clock.pending).toBe(0);
  });

  it('ends when the last attempt leaves at its beat', async () => {
    const last = () => pulse.leave(last);
    pulse.join(last);
    await clock.advance(EVERY_MS);
    expect(clock.pending).toBe(0);
  });

  it('begins anew with who joins after all have left', async () => {
    pulse.leave(joined('a'));
    await clock.advance(1_000);
    joined('b');
    await clock.advance(EVERY_MS);
    expect(beats).toEqual(['b 4000']);
  });
});
