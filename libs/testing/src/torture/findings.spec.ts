import { expect, it } from 'vitest';
import { findingsOf } from './findings.js';
import type { Call, Observations } from './observations.js';

const CALL: Call = {
  ...{ attempt: 1, name: 'x', item: null, idempotencyKey: 'r/x', fence: 1, reads: new Set(['fence'] as const) },
  ...{ beganLate: false, ended: 'returned', result: null, wentOn: false },
};

function kinds(seen: Partial<Observations>): string[] {
  const none = { requests: [], calls: [], looked: [], keys: [], swallowed: [], ended: new Set([1, 2]) };
  return findingsOf({ ...none, ...seen }, new Map([['items', 2]])).map(({ kind }) => kind);
}

function requests(...names: readonly string[]): Observations['requests'] {
  const rest = { kind: 'effect', policy: 'ask', payloadHash: null, timeoutMs: 0 } as const;
  return names.map((name) => ({ attempt: Number(name[0]), name: name.slice(1), ...rest }));
}

function keys(...names: readonly string[]): Observations['keys'] {
  return names.map((name) => ({ attempt: Number(name[0]), name: 'items', key: name.slice(1), hash: null }));
}

it('a call that began when its run was over is found, whatever it looked at', () => {
  expect(kinds({ calls: [{ ...CALL, beganLate: true }] })).toEqual(['began-late']);
  expect(kinds({ calls: [CALL] })).toEqual([]);
});

it('a call that threw is none that came through', () => {
  const blind = { ...CALL, reads: new Set<never>() };
  expect(kinds({ calls: [blind, { ...blind, attempt: 2 }] })).toEqual(['repeated']);
  expect(
    kinds({
      calls: [
        { ...blind, ended: 'threw' },
        { ...blind, attempt: 2 },
      ],
    }),
  ).toEqual([]);
  expect(
    kinds({
      calls: [
        { ...blind, item: 'a' },
        { ...blind, item: 'b' },
      ],
    }),
  ).toEqual([]);
});

it('a name is another one only where the attempt that has it came to its end, and has none of the first', () => {
  expect(kinds({ requests: requests('1a', '1mail-1', '2a', '2mail-2') })).toEqual(['other-name']);
  expect(kinds({ requests: requests('1a', '1b', '2check', '2a', '2b') })).toEqual([]);
  expect(kinds({ requests: requests('1a', '1b', '2a') })).toEqual([]);
  expect(kinds({ requests: requests('1a', '2b'), ended: new Set([1]) })).toEqual([]);
});

it('a list that got shorter has no other keys, and one that was made anew has', () => {
  expect(kinds({ keys: keys('1a', '2b') })).toEqual([]);
  expect(kinds({ keys: keys('1a', '1b', '2b', '2c') })).toEqual([]);
  expect(kinds({ keys: keys('1a', '1b', '2c', '2d') })).toEqual(['keys-change']);
});
