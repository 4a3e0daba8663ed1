import { expect, it } from 'vitest';
import { durationText, instantText, relativeText, utcText } from './instants.js';

it.each([
  [0, '0 ms'],
  [0.84, '0.8 ms'],
  [-0.01, '0 ms'],
  [4, '4 ms'],
  [999, '999 ms'],
  [1_250, '1.3 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [183_600_000, '2 d 3 h'],
  [-1_400, '-1.4 s'],
])('%d milliseconds are read as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

it('an instant is shown by the clocks of its zone, and a year that is not this one is said', () => {
  expect(instantText('2020-07-01T22:30:00.000Z', 'Europe/Berlin')).toBe('2 Jul 2020 00:30:00');
  const ofThisYear = `${new Date().getUTCFullYear()}-07-01T22:30:00.000Z`;
  expect(instantText(ofThisYear, 'Europe/Berlin')).toBe('2 Jul 00:30:00');
  expect(utcText('2020-07-01T22:30:00.000Z')).toBe('2020-07-01 22:30:00 UTC');
});

it('a zone that this browser does not know is shown as UTC, and breaks nothing', () => {
  expect(instantText('2020-07-01T22:30:00.000Z', 'Mars/Olympus')).toBe('1 Jul 2020 22:30:00');
});

it('what is ahead and what is past is said as such', () => {
  const now = Date.parse('2026-11-21T03:00:00.000Z');
  expect(relativeText('2026-11-21T03:05:00.000Z', now)).toBe('in 5 min');
  expect(relativeText('2026-11-21T02:59:47.500Z', now)).toBe('12 s ago');
  expect(relativeText('2026-11-21T03:00:07.900Z', now)).toBe('in 7 s');
  expect(relativeText('2026-11-21T03:00:00.400Z', now)).toBe('now');
  expect(relativeText('2026-11-21T02:59:58.000Z', now)).toBe('now');
});
