import { describe, expect, it } from 'vitest';
import { duration, generationOrNone, instant, json, positiveDuration, wholeNumber, words } from './option-values.js';

describe('the value of an option', () => {
  it.each([
    ['2026-03-28T00:00:00Z', '2026-03-28T00:00:00.000Z'],
    ['2026-03-28T02:30+01:00', '2026-03-28T01:30:00.000Z'],
    ['2026-03-28T02:30:00.5-05:30', '2026-03-28T08:00:00.500Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('is an instant: %s', (text, at) => expect(new Date(instant(text)).toISOString()).toBe(at));

  it.each([
    '2026-03-28T00:00:00',
    '2026-02-30',
    '2026-02-29T00:00:00Z',
    '2026-13-01',
    '2026-03-28T25:00Z',
    'now',
    '1763607600000',
    '',
  ])('is no instant: %j', (text) => expect(() => instant(text)).toThrow('Use an instant with offset'));

  it('is a whole number within its bounds', () => {
    expect(wholeNumber(1, 10)('10')).toBe(10);
    for (const text of ['0', '11', '1.5', '-1', '1e1', ' 1', ''])
      expect(() => wholeNumber(1, 10)(text)).toThrow('from 1 to 10');
  });

  it('is a duration that lasts', () => {
    expect(positiveDuration('2h')).toBe(7_200_000);
    for (const text of ['0s', '2', 'soon', '-1h'])
      expect(() => positiveDuration(text)).toThrow('Use a duration such as');
  });

  it('is a duration that may be none at all', () => {
    expect([duration('0s'), duration('2h')]).toEqual([0, 7_200_000]);
    for (const text of ['2', 'soon', '-1h']) expect(() => duration(text)).toThrow('Use a duration such as');
  });

  it('is a generation, or that there is none', () => {
    expect([generationOrNone('3'), generationOrNone('none')]).toEqual([3, 'none']);
    for (const text of ['0', 'null', '1.5', '']) expect(() => generationOrNone(text)).toThrow('from 1 to');
  });

  it('is JSON, or some words', () => {
    expect(json('{"month":3}')).toEqual({ value: { month: 3 } });
    expect(() => json('month')).toThrow('Give JSON');
    expect(words(' disk full ')).toBe('disk full');
    expect(() => words(' ')).toThrow('A reason is required');
  });
});
