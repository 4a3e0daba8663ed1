import { describe, expect, it } from 'vitest';
import { table, wrap } from './table.js';

describe('a table', () => {
  it('has its columns below each other', () => {
    expect(
      table(
        [
          ['a', 'bb', 'c'],
          ['aaa', 'b', 'cc'],
        ],
        80,
      ),
    ).toEqual(['a    bb  c', 'aaa  b   cc']);
  });

  it('wraps its last column below itself', () => {
    expect(table([['rule', 'one two three four five six']], 28)).toEqual([
      'rule  one two three four',
      '      five six',
    ]);
  });

  it('keeps the last column readable on a narrow terminal', () => {
    expect(table([['a'.repeat(30), 'one two three four five']], 32)[0]).toMatch(/a {2}one two three four$/);
  });
});

describe('a line that is too long', () => {
  it('is broken between words, and a long word stays whole', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a nightly-report@1763607600000 b', 10)).toEqual(['a', 'nightly-report@1763607600000', 'b']);
  });
});
