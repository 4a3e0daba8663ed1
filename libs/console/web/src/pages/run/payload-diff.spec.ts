import { expect, it } from 'vitest';
import { differencesOf } from './payload-diff.js';

it.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, [{ path: 'a.b.1', is: 2, was: 3 }]],
  [
    { a: 1 },
    { b: 1 },
    [
      { path: 'a', is: 1, was: undefined },
      { path: 'b', is: undefined, was: 1 },
    ],
  ],
  [null, { a: 1 }, [{ path: '', is: null, was: { a: 1 } }]],
  [[1], { 0: 1 }, [{ path: '', is: [1], was: { 0: 1 } }]],
])('%j and %j differ in these parts', (is, was, parts) => {
  expect(differencesOf(is, was)).toEqual(parts);
});

it('shows no more than fifty of many differences', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]));
  expect(differencesOf(many, {})).toHaveLength(50);
});
