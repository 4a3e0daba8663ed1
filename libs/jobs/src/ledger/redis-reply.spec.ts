import { describe, expect, it } from 'vitest';
import { beginReply } from './redis-begin.js';
import { cancelReply } from './redis-cancel.js';
import { claimReply } from './redis-claim.js';
import { readRunRecord } from './redis-run-record.js';

describe('what a script answered', () => {
  it('is refused when it is no answer of that script, as from another release', () => {
    expect(() => claimReply(['MAYBE'], 'c@1')).toThrow('Expected a reply of claim-occurrences, got ["MAYBE"]');
    expect(() => beginReply(['MAYBE'], 'c')).toThrow('Expected a reply of begin-attempt, got ["MAYBE"]');
    expect(() => cancelReply(['MAYBE'])).toThrow('Expected a reply of cancel-run, got ["MAYBE"]');
    expect(() => beginReply(['BEGUN', '7', '1', []], 'c')).toThrow('Expected a reply of begin-attempt');
  });

  it('is no run when the hash is not there', () => {
    expect(readRunRecord({})).toBeNull();
  });
});
