import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { Stopping } from './stopping.js';

describe('ending a demo from outside', () => {
  it('is in order at the first request, and at once at the second', () => {
    const stopping = new Stopping(new ManualClock());
    expect([stopping.inOrder.aborted, stopping.atOnce.aborted]).toEqual([false, false]);
    stopping.request();
    expect([stopping.inOrder.aborted, stopping.atOnce.aborted]).toEqual([true, false]);
    stopping.request();
    expect([stopping.inOrder.aborted, stopping.atOnce.aborted]).toEqual([true, true]);
  });

  it('is heard from each signal that ends a program, until it is closed', () => {
    const before = process.listenerCount('SIGTERM');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const stopping = new Stopping(new ManualClock());
      stopping.listen(false);
      process.emit(signal);
      expect(stopping.inOrder.aborted).toBe(true);
      stopping.close();
    }
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it('leaves no timer behind that waits for the parent to go', () => {
    const clock = new ManualClock();
    const stopping = new Stopping(clock);
    stopping.listen(true);
    expect(clock.pending).toBe(1);
    stopping.close();
    expect(clock.pending).toBe(0);
  });
});
