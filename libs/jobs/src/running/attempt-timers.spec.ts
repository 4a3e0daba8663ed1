import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { HeartbeatTimer } from './heartbeat.js';
import { LazyAbort, withSignal } from './lazy-abort.js';

describe('heartbeat timer', () => {
  const EVERY_MS = 3_000;

  let clock: ManualClock;
  let heartbeatTimer: HeartbeatTimer;
  let beats: string[];

  /** An attempt of this name. */
  const joined = (name: string) => {
    const heartbeat = { beat: () => void beats.push(`${name} ${clock.monotonic()}`) };
    heartbeatTimer.join(heartbeat);
    return heartbeat;
  };

  beforeEach(() => {
    clock = new ManualClock();
    heartbeatTimer = new HeartbeatTimer(clock, EVERY_MS);
    beats = [];
  });

  describe('a heartbeat timer', () => {
    it('lets attempts that began at different times beat at the same time, with one timer', async () => {
      joined('a');
      await clock.advance(1_000);
      joined('b');
      expect([clock.pending, heartbeatTimer.nextAt]).toEqual([1, EVERY_MS]);
      await clock.advance(EVERY_MS * 2 - 1_000);
      expect(beats).toEqual(['a 3000', 'b 3000', 'a 6000', 'b 6000']);
    });

    it('does not call attempts that have left, and has no timer when all have', async () => {
      const [a, b] = [joined('a'), joined('b')];
      heartbeatTimer.leave(a);
      await clock.advance(EVERY_MS);
      expect(beats).toEqual(['b 3000']);
      heartbeatTimer.leave(b);
      heartbeatTimer.leave(b);
      expect(clock.pending).toBe(0);
    });
  });
});

describe('lazy abort', () => {
  const FIRST = new Error('first');

  let ending: LazyAbort;
  let told: unknown[];
  beforeEach(() => {
    ending = new LazyAbort();
    told = [];
  });

  const watch = () => ending.watch((reason) => told.push(reason));

  describe('an ending', () => {
    it('tells its watcher and its signal why, once: the first end counts', () => {
      watch();
      ending.signal.addEventListener('abort', () => told.push('signal'));
      ending.end(FIRST);
      ending.end(new Error('second'));
      expect(told).toEqual(['signal', FIRST]);
      expect([ending.over, ending.signal.aborted, ending.signal.reason]).toEqual([true, true, FIRST]);
      expect(() => ending.throwIfOver()).toThrow(FIRST);
    });

    it('has notified no watcher before it ends', () => {
      watch();
      expect([ending.over, ending.signal.aborted, told]).toEqual([false, false, []]);
      expect(() => ending.throwIfOver()).not.toThrow();
    });

    it('has one signal', () => {
      expect(ending.signal).toBe(ending.signal);
    });
  });

  describe('an object with the signal of an ending', () => {
    it('belongs to its own ending', () => {
      const [one, other] = [ending, new LazyAbort()].map((end) => withSignal<{ signal: AbortSignal }>(end, {}));
      ending.end(FIRST);
      expect([one?.signal.aborted, other?.signal.aborted]).toEqual([true, false]);
    });
  });
});
