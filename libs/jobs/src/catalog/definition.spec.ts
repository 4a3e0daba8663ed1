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

  it('is another one for each rule, spread and least interval', () => {
    const others = [
      hash(),
      hash({ dst: { gap: 'skip', repeat: 'first' } }),
      hash({ dst: { gap: 'shift', repeat: 'first' } }),
      hash({ dst: { gap: 'next-valid', repeat: 'last' } }),
      hash({ spreadMs: 60_000 }),
      hash({ spreadMs: 61_000 }),
      hash({ minIntervalMs: 60_000 }),
      hash({ spreadMs: 60_000, minIntervalMs: 60_000 }),
    ];
    expect(new Set(others).size).toBe(others.length);
  });
});
