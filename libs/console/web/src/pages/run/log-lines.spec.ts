import { expect, it } from 'vitest';
import { fittingLines } from './log-lines.js';

const LINES = [
  '2026-11-21T03:00:00.000Z info [attempt 1 · fence 7] the report is made',
  '2026-11-21T03:00:01.000Z error [attempt 1 · fence 7] Error: no\n    at send (mail.js:7:3)',
  'a line of another form',
];

const found = (level: string, words: string) =>
  fittingLines(LINES, { level, words }).map(({ whole }) => LINES.indexOf(whole));

it.each([
  ['', '', [0, 1, 2]],
  ['error', '', [1]],
  ['', 'MAIL.JS', [1]],
  ['', ' form ', [2]],
  ['info', 'mail', []],
])('level %j and words %j leave these lines', (level, words, left) => {
  expect(found(level, words)).toEqual(left);
});
