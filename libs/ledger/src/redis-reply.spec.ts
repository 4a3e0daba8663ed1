import { describe, expect, it } from 'vitest';
import { beginReply } from './redis-begin.js';
import { cancelReply } from './redis-cancel.js';
import { claimReply } from './redis-claim.js';
import { readRunRecord } from './redis-run-record.js';

const REQUEST = { runId: 'c@1', worker: 'w' };

describe('what a script answered', () => {
  it('is refused when it is no answer of that script, as from another release', () => {
    expect(() => claimReply(['MAYBE'], 'c@1')).toThrow('Expected a reply of claim-occurrences, got ["MAYBE"]');
    expect(() => beginReply(['MAYBE'], REQUEST)).toThrow('Expected a reply of begin-attempts, got ["MAYBE"]');
    expect(() => cancelReply(['MAYBE'])).toThrow('Expected a reply of cancel-run, got ["MAYBE"]');
    expect(() => beginReply(['BEGUN', '7 1', 'w'], REQUEST)).toThrow('Expected a reply of begin-attempts');
  });

  it('is no run when the hash is not there', () => {
    expect(readRunRecord({})).toBeNull();
  });
});
