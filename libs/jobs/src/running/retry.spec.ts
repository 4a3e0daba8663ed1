import * as fc from 'fast-check';
import { UnrecoverableError } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { EffectNameError, EffectResultError } from './errors.js';
import { isUnrecoverable, retryDelay } from './attempt.js';

const policy = { attempts: 10, delayMs: 1_000, maxDelayMs: 5_000 };
const MAX = 1 - Number.EPSILON / 2;

describe('the delay before the next try', () => {
  it('doubles from try to try up to its cap', () => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(policy, attempt, () => MAX))).toEqual([
      1_000, 2_000, 4_000, 5_000, 5_000,
    ]);
  });

  it('is at least half of that, by chance', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelay(policy, attempt, () => 0))).toEqual([500, 1_000, 2_000, 2_500]);
  });

  it('is a whole number within its bounds for every policy and every try', () => {
    const ms = fc.integer({ min: 0, max: 24 * 3_600_000 });
    const chance = fc.double({ min: 0, max: MAX, noNaN: true });
    fc.assert(
      fc.property(
        fc.tuple(ms, ms),
        fc.integer({ min: 1, max: 100 }),
        chance,
        ([delayMs, maxDelayMs], attempt, random) => {
          const delay = retryDelay({ attempts: 100, delayMs, maxDelayMs }, attempt, () => random);
          expect(Number.isSafeInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(Math.floor(Math.min(delayMs, maxDelayMs) / 2));
          expect(delay).toBeLessThanOrEqual(maxDelayMs);
        },
      ),
    );
  });
});

describe('an error', () => {
  it.each([
    ['of BullMQ that says so', new UnrecoverableError('no'), true],
    ['of another class with that name', Object.assign(new Error('no'), { name: 'UnrecoverableError' }), true],
    ['for an effect name that can not be', new EffectNameError('c@1', '', 'a text'), true],
    ['for an effect that happened and can not be recorded', new EffectResultError('mail', 'it is not data'), true],
    ['of any other kind', new Error('UnrecoverableError'), false],
    ['that is none', 'UnrecoverableError', false],
  ])('%s is final or not', (_what, error, final) => {
    expect(isUnrecoverable(error)).toBe(final);
  });
});
