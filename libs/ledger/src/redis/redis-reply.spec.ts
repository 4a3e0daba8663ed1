import { describe, expect, it } from 'vitest';
import { decodeBegin } from './redis-attempt-codec.js';
import { decodeClaim } from './redis-occurrence-codec.js';
import { decodeCancel } from './redis-operator-codec.js';
import { decodeRun, RUN_FIELDS } from './redis-run-codec.js';

const REQUEST = { runId: 'c@1', worker: 'w' };

describe('what a script answered', () => {
  it('is refused when it is no answer of that script, as from another release', () => {
    expect(() => decodeClaim(['MAYBE'], 'c@1')).toThrow('Expected a reply of claim-occurrences, got ["MAYBE"]');
    expect(() => decodeBegin(['MAYBE'], REQUEST)).toThrow('Expected a reply of begin-attempts, got ["MAYBE"]');
    expect(() => decodeCancel(['MAYBE'])).toThrow('Expected a reply of cancel-run, got ["MAYBE"]');
    expect(() => decodeBegin(['BEGUN', '7 1', 'w'], REQUEST)).toThrow(
      'Expected a run record of format 2 to 5, got "7 1".',
    );
  });

  it('is no run when the hash is not there', () => {
    expect(
      decodeRun(
        'c@1',
        RUN_FIELDS.map(() => null),
      ),
    ).toBeNull();
  });
});
