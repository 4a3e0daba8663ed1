import { systemClock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { preciseTimer } from './precise-timer.js';

let clock: ManualClock;
/** What waits for the next turn of the event loop, which a test turns as well. */
let turns: Set<() => void>;
let fired: number[];

function after(delayMs: number, on = waiting()): CancelTimer {
  return on.after(delayMs, () => fired.push(clock.monotonic()));
}

function waiting() {
  return preciseTimer(clock, (task) => {
    turns.add(task);
    return () => void turns.delete(task);
  });
}

function turn(): void {
  const due = [...turns];
  turns.clear();
  for (const task of due) task();
}

beforeEach(() => {
  clock = new ManualClock();
  turns = new Set();
  fired = [];
});

describe('a precise timer', () => {
  it('looks from a millisecond before on, and fires when the time has come', async () => {
    after(500);
    await clock.advance(499);
    turn();
    turn();
    expect(fired).toEqual([]);
    await clock.advance(1);
    turn();
    expect(fired).toEqual([500]);
    expect([turns.size, clock.pending]).toEqual([0, 0]);
  });

  it('sleeps until then', async () => {
    after(500);
    await clock.advance(498);
    expect(turns.size).toBe(0);
  });

  it('fires at once when its timer was late', async () => {
    after(500);
    clock.jumpWall(5);
    await clock.advance(499);
    expect(fired).toEqual([499]);
  });

  it.each([
    ['while it sleeps', 100],
    ['while it is awake', 499],
  ])('does not fire when it is cancelled %s', async (_when, passed) => {
    const cancel = after(500);
    await clock.advance(passed);
    cancel();
    await clock.advance(1_000);
    turn();
    expect(fired).toEqual([]);
    expect([turns.size, clock.pending]).toEqual([0, 0]);
  });

  it('is awake once in a hundred milliseconds at most', async () => {
    const on = waiting();
    after(10, on);
    await clock.advance(10);
    turn();
    after(99, on);
    await clock.advance(98.5);
    expect(turns.size).toBe(0);
    await clock.advance(0.5);
    expect(fired).toEqual([10, 109]);
    after(20, on);
    await clock.advance(19);
    expect(turns.size).toBe(1);
  });

  it('does not end a real wait before its time', async () => {
    const at = Date.now() + 20;
    await new Promise<void>((resolve) => void preciseTimer(systemClock).after(20, resolve));
    expect(Date.now()).toBeGreaterThanOrEqual(at);
  });
});
