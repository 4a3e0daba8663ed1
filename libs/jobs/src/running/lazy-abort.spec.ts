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

  it('notifies a later watcher, and aborts a signal that is read later', () => {
    ending.end(FIRST);
    watch();
    expect(told).toEqual([FIRST]);
    expect([ending.signal.aborted, ending.signal.reason]).toEqual([true, FIRST]);
  });

  it('has one signal', () => {
    expect(ending.signal).toBe(ending.signal);
  });

  it('does not notify a watcher that has stopped', () => {
    watch();
    ending.unwatch();
    ending.end(FIRST);
    expect(told).toEqual([]);
  });
});

describe('an object with the signal of an ending', () => {
  it('can be taken apart and copied, and what comes of it hears of the end', () => {
    const object = withSignal<{ readonly id: string; readonly signal: AbortSignal }>(ending, { id: 'c@1' });
    const { signal } = object;
    const copy = { ...object };
    const derived: typeof object = Object.create(object);
    ending.end(FIRST);
    expect([signal, copy.signal, derived.signal]).toEqual([ending.signal, ending.signal, ending.signal]);
    expect(copy.signal.reason).toBe(FIRST);
    expect(Object.keys(copy)).toEqual(['id', 'signal']);
  });

  it('belongs to its own ending', () => {
    const [one, other] = [ending, new LazyAbort()].map((end) => withSignal<{ signal: AbortSignal }>(end, {}));
    ending.end(FIRST);
    expect([one?.signal.aborted, other?.signal.aborted]).toEqual([true, false]);
  });
});
