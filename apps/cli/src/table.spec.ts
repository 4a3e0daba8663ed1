import { describe, expect, it } from 'vitest';
import { hanging, table, wrap } from './table.js';

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

  it('ends no line with blanks', () => {
    expect(
      table(
        [
          ['a', ''],
          ['aaaa', 'b'],
        ],
        80,
      ),
    ).toEqual(['a', 'aaaa  b']);
  });

  it('has no lines without rows', () => expect(table([], 80)).toEqual([]));
});

describe('a line that is too long', () => {
  it('is broken between words, and a long word stays whole', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a nightly-report@1763607600000 b', 10)).toEqual(['a', 'nightly-report@1763607600000', 'b']);
  });

  it('goes on a little further right', () => {
    expect(hanging('one two three four five six', 22)).toEqual(['one two three four', '  five six']);
  });

  it('stays whole where nothing is too wide', () => expect(hanging('one two', Infinity)).toEqual(['one two']));
});
