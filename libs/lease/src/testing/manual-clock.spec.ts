import { describe, expect, it } from 'vitest';
import { ManualClock } from './manual-clock.js';

describe('ManualClock', () => {
  it('stands still until it is turned, and then turns both clocks', async () => {
    const clock = new ManualClock(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it('runs due timers in order, each at its own time, also those that a timer starts', async () => {
    const clock = new ManualClock();
    const ran: string[] = [];
    const note = (name: string) => () => void ran.push(`${name}@${clock.monotonic()}`);
    clock.after(30, note('late'));
    clock.after(10, () => {
      note('early')();
      clock.after(10, note('started by early'));
    });
    clock.after(31, note('not yet'));
    await clock.advance(30);
    expect(ran).toEqual(['early@10', 'started by early@20', 'late@30']);
    expect(clock.pending).toBe(1);
  });

  it('steps the wall clock alone', () => {
    const clock = new ManualClock(1_000);
    clock.jumpWall(-400);
    expect([clock.now(), clock.monotonic()]).toEqual([600, 0]);
  });
});
