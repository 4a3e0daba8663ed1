import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { throttle } from './throttle.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a burst of events is one question, soon', () => {
  const work = vi.fn<() => void>();
  const { call } = throttle(work, 3_000);
  for (let n = 0; n < 100; n += 1) call();
  vi.advanceTimersByTime(250);
  expect(work).toHaveBeenCalledTimes(1);
});

it('events without end are a question every three seconds, and the last of them is not missed', () => {
  const work = vi.fn<() => void>();
  const { call } = throttle(work, 3_000);
  for (let n = 0; n < 600; n += 1) {
    call();
    vi.advanceTimersByTime(100);
  }
  expect(work.mock.calls.length).toBeLessThanOrEqual(21);
  const before = work.mock.calls.length;
  vi.advanceTimersByTime(3_000);
  expect(work).toHaveBeenCalledTimes(before + 1);
});

it('nothing is asked for a page that is left', () => {
  const work = vi.fn<() => void>();
  const { call, cancel } = throttle(work, 3_000);
  call();
  cancel();
  vi.advanceTimersByTime(10_000);
  expect(work).not.toHaveBeenCalled();
});
