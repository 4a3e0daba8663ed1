import { describe, expect, it } from 'vitest';
import { cronOfRun } from '@fencepost/ledger/run';
import { runIdOfKey } from './job-order.js';

describe('the run id of an idempotency key', () => {
  it.each(['order-4711', 'a', 'A.b_c-d', '4711x', 'x'.repeat(100)])('is the key itself: %s', (key) => {
    expect(runIdOfKey('mail', key)).toBe(`mail@${key}`);
  });

  it.each([
    ['an instant', '1763607600000'],
    ['a run that a person asked for', 'manual-0199'],
    ['a key that was hashed', 'key-1'],
    ['a second delivery', 'order-d2'],
    ['a run that is run again', 'order-r2'],
    ['a re-run', '1763607600000-r1'],
    ['a run of another cron', 'other@1'],
    ['parts of a key in Redis', 'a:b'],
    ['nothing', ''],
    ['a long text', 'x'.repeat(101)],
    ['any Unicode', 'größe 🦉\n'],
  ])('is a hash where the key could be mistaken for %s', (_what, key) => {
    const runId = runIdOfKey('mail', key);
    expect(runId).toMatch(/^mail@key-[0-9a-f]{40}$/);
    expect(cronOfRun(runId)).toBe('mail');
    expect(runIdOfKey('mail', key)).toBe(runId);
  });

  it('is another one for each key, also where UTF-8 could not tell them apart', () => {
    const keys = ['a:b', 'a:c', '1', '01', '\ud800', '\ud801', '\ufffd'];
    expect(new Set(keys.map((key) => runIdOfKey('mail', key))).size).toBe(keys.length);
  });
});
