import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import type { Clock } from '../base/clock.js';
import { Deadline } from './deadline.js';

/** A clock of an application, which knows `after` alone. */
function plain(clock: ManualClock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (delayMs, task) => clock.after(delayMs, task),
  };
}

function stage(clockOf: (clock: ManualClock) => Clock = (clock) => clock) {
  const clock = new ManualClock();
  const due: number[] = [];
  return { clock, due, deadline: new Deadline(clockOf(clock), () => void due.push(clock.monotonic())) };
}

describe.each([
  ['a clock that keeps timers', (clock: ManualClock): Clock => clock],
  ['a clock that only sets them', plain],
])('Deadline on %s', (_name, clockOf) => {
  it('fires once, at the earliest of its deadlines', async () => {
    const { clock, due, deadline } = stage(clockOf);
    for (const at of [300, 100, 200]) deadline.watch(at);
    await clock.advance(1_000);
    expect([due, clock.pending]).toEqual([[100], 0]);
  });

  it('does not fire once it is cleared, and keeps no process alive', async () => {
    const { clock, due, deadline } = stage(clockOf);
    deadline.watch(100);
    deadline.clear();
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(due).toEqual([]);
  });

  it('fires for a deadline after it was cleared, neither earlier nor later', async () => {
    const { clock, due, deadline } = stage(clockOf);
    deadline.watch(100);
    deadline.clear();
    await clock.advance(50);
    deadline.watch(150);
    expect(clock.pending).toBe(1);
    await clock.advance(99);
    expect([due, clock.pending]).toEqual([[], 1]);
    await clock.advance(1);
    expect([due, clock.pending]).toEqual([[150], 0]);
  });

  it('fires for an earlier deadline than the one it was cleared of', async () => {
    const { clock, due, deadline } = stage(clockOf);
    deadline.watch(1_000);
    deadline.clear();
    deadline.watch(10);
    await clock.advance(2_000);
    expect(due).toEqual([10]);
  });

  it('sets no timer once it is cancelled', async () => {
    const { clock, due, deadline } = stage(clockOf);
    deadline.watch(100);
    deadline.cancel();
    await clock.advance(1_000);
    expect([due, clock.pending]).toEqual([[], 0]);
  });
});

describe('Deadline', () => {
  it('sets one timer for a thousand deadlines that are cleared before they come', async () => {
    const clock = new ManualClock();
    let set = 0;
    const timer = (delayMs: number, task: () => void) => {
      set += 1;
      return clock.timer(delayMs, task);
    };
    const counted = new Deadline({ ...plain(clock), timer }, () => {});
    for (let n = 0; n < 1_000; n += 1) {
      counted.watch(clock.monotonic() + 10_000);
      counted.clear();
      await clock.advance(1);
    }
    expect([set, clock.pending]).toEqual([1, 0]);
  });
});
