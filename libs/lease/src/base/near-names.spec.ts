import { describe, expect, it } from 'vitest';
import { nearNames } from './checked-options.js';

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
