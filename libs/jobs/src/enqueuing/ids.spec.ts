import { describe, expect, it } from 'vitest';
import { cronOfRun } from '@fencepost/ledger/run';
import { runIdOfKey, uuidV7 } from './job-order.js';
import { randomUUID } from 'node:crypto';

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

describe('a UUID of version 7', () => {
  it('has the time first, then version and variant, and is random otherwise', () => {
    expect(uuidV7(0x0190_1234_5678, 'aaaaaaaa-bbbb-4ccc-9ddd-eeeeeeeeeeee')).toBe(
      '01901234-5678-7ccc-9ddd-eeeeeeeeeeee',
    );
    expect(uuidV7(1, randomUUID())).toMatch(/^00000000-0001-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('sorts by time', () => {
    const times = [0, 1, 255, 256, 1_763_607_600_000, 1_763_607_600_001];
    const uuids = times.map((time) => uuidV7(time, randomUUID()));
    expect(uuids).toEqual(uuids.toSorted());
  });
});
