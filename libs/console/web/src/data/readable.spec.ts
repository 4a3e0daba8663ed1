import { describe, expect, it } from 'vitest';
import { readable } from './readable.js';

describe('readable', () => {
  it('writes out what would turn around the text after it, wherever it stands', () => {
    const records = [{ reason: 'looks \u202edab', by: 'anna', at: 7, cron: null }];
    expect(readable({ records })).toEqual({
      records: [{ reason: 'looks \\u202edab', by: 'anna', at: 7, cron: null }],
    });
  });

  it('leaves texts of other scripts and their marks alone', () => {
    expect(readable('\u05d0\u200f')).toBe('\u05d0\u200f');
  });
});
