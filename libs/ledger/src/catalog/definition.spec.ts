import { describe, expect, it } from 'vitest';
import { contentHash, type CronDefinition } from './definition.js';

const PLAIN: CronDefinition = {
  name: 'nightly-report',
  expression: '0 3 * * *',
  timeZone: 'Europe/Berlin',
  misfire: 'fire-once',
  overlap: 'skip',
  graceMs: 60_000,
  catchUpWindowMs: null,
};

const hash = (over: Partial<CronDefinition> = {}) =>
  contentHash({ definition: { ...PLAIN, ...over }, disabled: false });

describe('the hash of a declaration', () => {
  it('is what it was before there were options that it does not use', () => {
    expect(hash()).toBe('fb1c829667bce9ea');
  });

  it('is another one for each rule, spread and least interval, and each other option', () => {
    const others = [
      hash(),
      hash({ dst: { gap: 'skip', repeat: 'first' } }),
      hash({ dst: { gap: 'shift', repeat: 'first' } }),
      hash({ dst: { gap: 'next-valid', repeat: 'last' } }),
      hash({ spreadMs: 60_000 }),
      hash({ spreadMs: 61_000 }),
      hash({ minIntervalMs: 60_000 }),
      hash({ spreadMs: 60_000, minIntervalMs: 60_000 }),
      hash({ maxCatchUp: 60_000 }),
      hash({ maxConcurrency: 60_000 }),
      hash({ startDeadlineMs: 60_000 }),
      hash({ cancelGraceMs: 60_000 }),
      hash({ handler: 'weekly-report' }),
      hash({ expectEveryMs: 60_000 }),
      hash({ lateAfterMs: 60_000 }),
      hash({ ping: { success: 'https://hc.example/a' } }),
      hash({ ping: { failure: 'https://hc.example/a' } }),
      hash({ payload: 'weekly-report' }),
      hash({ payload: 0 }),
      hash({ payload: {} }),
      hash({ payload: [] }),
      hash({ payload: { a: [1, 2] } }),
      hash({ payload: { a: [2, 1] } }),
    ];
    expect(new Set(others).size).toBe(others.length);
  });

  it('is the same for a payload whatever the order of its keys, and for none and null', () => {
    expect(hash({ payload: { a: { b: 1, c: 2 }, d: 3 } })).toBe(hash({ payload: { d: 3, a: { c: 2, b: 1 } } }));
    expect(hash({ payload: null })).toBe(hash());
  });
});
