import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { throttled } from './clock.js';
import { formatFence, parseFence } from './fence.js';
import { hostname } from 'node:os';
import { hashResource, ownerPrefix, processIdentity, randomNonce } from './identity.js';
import { nearNames } from './checked-options.js';

describe('throttled', () => {
  it('tells the first at once, then one per window with the number held back', async () => {
    const clock = new ManualClock();
    const told: string[] = [];
    const report = throttled((message) => told.push(message), { clock, windowMs: 5_000 });
    report('one');
    report('two');
    report('three');
    await clock.advance(4_999);
    report('four');
    await clock.advance(1);
    report('five');
    expect(told).toEqual(['one', 'five (and 3 more since the last report)']);
    await clock.advance(5_000);
    report('six');
    expect(told.at(-1)).toBe('six');
  });
});

describe('a fence', () => {
  it.each(['0', '1', '1787654321123456', '9007199254740991'])('comes back from the wire as it went: %s', (text) => {
    expect(formatFence(parseFence(text))).toBe(text);
  });

  it.each(['', '-1', '1.5', '01', '1e3', '1.7876543211235e+15', '9007199254740992', 'NaN', ' 1'])(
    'is never read from %j',
    (text) => {
      expect(() => parseFence(text)).toThrow(RangeError);
    },
  );
});

describe('the identity of a process', () => {
  it('is random, with the host name as its label', () => {
    expect(processIdentity()).toMatch(/^[A-Za-z0-9._-]+\/[0-9a-f]{8}-[0-9a-f]{12}$/);
    expect(processIdentity().startsWith(hostname().slice(0, 5))).toBe(true);
    expect(processIdentity('pod')).not.toBe(processIdentity('pod'));
  });

  it('fits into 64 characters with a name of 42, as pods of Kubernetes have them', () => {
    expect(processIdentity('billing-reports-scheduler-7f9c4d5b68-x2x7q').length).toBeLessThanOrEqual(64);
  });

  it('has no slash or blank in its label', () => {
    expect(processIdentity('my pod/7')).toMatch(/^my-pod-7\//);
  });

  it('is shown in logs by label and eight characters', () => {
    expect(ownerPrefix('pod-7/0192e4a1-0000-4000-8000-000000000000')).toBe('pod-7/0192e4a1');
    expect(ownerPrefix('0192e4a1-0000')).toBe('0192e4a1');
  });
});

describe('hashResource', () => {
  it('shows the same resource the same way, and not its name', () => {
    expect(hashResource('customer-42')).toMatch(/^[0-9a-f]{12}$/);
    expect(hashResource('customer-42')).toBe(hashResource('customer-42'));
    expect(hashResource('customer-42')).not.toBe(hashResource('customer-43'));
  });
});

const NAMES = ['nightly-report', 'nightly-backup', 'pulse', 'Invoices', 'a', 'report'];

describe('names that are near', () => {
  it.each([
    ['nightly-repotr', ['nightly-report']],
    ['nightly', ['nightly-backup', 'nightly-report']],
    ['my-report', ['report']],
    ['invoice', ['Invoices']],
    ['pusle', ['pulse']],
    ['quarterly-sum', []],
  ])('to %j are %j', (asked, near) => {
    expect(nearNames(asked, NAMES)).toEqual(near);
  });

  it('are at most five', () => {
    expect(
      nearNames(
        'cron',
        Array.from({ length: 20 }, (_, n) => `cron-${n}`),
      ),
    ).toHaveLength(5);
  });
});

describe('a nonce', () => {
  it('is a word of its own each time, also beyond the bytes that are drawn at once', () => {
    const nonces = Array.from({ length: 5_000 }, () => randomNonce());
    expect(new Set(nonces).size).toBe(nonces.length);
    for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{20}$/);
  });
});
