import { beforeEach, describe, expect, it } from 'vitest';
import { LazyAbort, withSignal } from './lazy-abort.js';

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
