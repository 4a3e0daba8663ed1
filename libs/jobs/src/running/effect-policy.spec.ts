import { describe, expect, it } from 'vitest';
import { afterOrphaned, afterIndeterminate, firstWord } from './effect-options.js';

const UNKNOWN = { since: 0, ageMs: 1_000, payloadHash: 'a' };
const policy = { keyTtlMs: null, payloadHash: null };
const lookup = () => 'unknown' as const;

describe('the first word to the ledger', () => {
  it('is "go" only for what is repeated whatever its age', () => {
    expect(firstWord({ ...policy, ifUnknown: 'retry' })).toBe('go');
    expect(firstWord({ ...policy, ifUnknown: 'retry', keyTtlMs: 1 })).toBe('tell');
    expect(firstWord({ ...policy, ifUnknown: 'ask' })).toBe('tell');
    expect(firstWord({ ...policy, ifUnknown: lookup })).toBe('tell');
  });
});

describe('after the loss of an attempt', () => {
  it('the policy says what comes', () => {
    expect(afterOrphaned(UNKNOWN, { ...policy, ifUnknown: 'retry' })).toEqual({ step: 'again' });
    expect(afterOrphaned(UNKNOWN, { ...policy, ifUnknown: 'ask' })).toEqual({ step: 'ask', unknownReason: 'lost' });
    expect(afterOrphaned(UNKNOWN, { ...policy, ifUnknown: lookup })).toEqual({ step: 'look-up', lookup });
  });

  it.each([
    [1_001, { step: 'again' }],
    [1_000, { step: 'ask', unknownReason: 'key-expired' }],
    [1, { step: 'ask', unknownReason: 'key-expired' }],
  ])('an effect is repeated only while its key of %i ms is remembered', (keyTtlMs, next) => {
    expect(afterOrphaned(UNKNOWN, { ...policy, ifUnknown: 'retry', keyTtlMs })).toEqual(next);
  });

  it('another payload is asked about, and one that nobody knows is not', () => {
    const changed = { step: 'ask', unknownReason: 'payload-changed' };
    for (const ifUnknown of ['retry', 'ask', lookup] as const) {
      expect(afterOrphaned(UNKNOWN, { ...policy, ifUnknown, payloadHash: 'b' })).toEqual(changed);
    }
    expect(afterOrphaned(UNKNOWN, { ...policy, ifUnknown: 'retry', payloadHash: 'a' })).toEqual({ step: 'again' });
    const untold = { ...UNKNOWN, payloadHash: null };
    expect(afterOrphaned(untold, { ...policy, ifUnknown: 'retry', payloadHash: 'b' })).toEqual({ step: 'again' });
  });
});

describe('after an indeterminate outcome', () => {
  it('the policy says what comes', () => {
    expect(afterIndeterminate({ ifUnknown: 'retry' })).toEqual({ step: 'again' });
    expect(afterIndeterminate({ ifUnknown: 'ask' })).toEqual({ step: 'ask', unknownReason: 'timeout' });
    expect(afterIndeterminate({ ifUnknown: lookup })).toEqual({ step: 'look-up', lookup });
  });
});
