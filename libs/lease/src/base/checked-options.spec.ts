import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkedOptions, isAmbiguous, parseDuration } from './checked-options.js';
import { SetupError } from './errors.js';

const schema = z.strictObject({ size: z.number('expected a number') }, 'expected an object such as { size: 1 }');
const check = (options: unknown) => () => checkedOptions({ owner: 'Things', schema }, options);

describe('checked options', () => {
  it('come back as the schema makes them', () => {
    expect(check({ size: 1 })()).toEqual({ size: 1 });
  });

  it.each([
    [{ size: 'big' }, 'Things, option "size": expected a number, got "big".'],
    [{}, 'Things, option "size": expected a number, got nothing.'],
    [{ size: 1, sise: 'red' }, 'Things has no option "sise"; did you mean "size"?'],
    [{ size: 1, colour: 'red' }, 'Things has no option "colour"; known are size.'],
  ])('name key, expectation and value of %j', (options, sentence) => {
    expect(check(options)).toThrowError(new SetupError(sentence));
  });

  it('are not shown when something else came in their place: it may hold a password', () => {
    const sentence = 'Things, options: expected an object such as { size: 1 }, got a string.';
    expect(check('redis://user:secret@host')).toThrowError(new SetupError(sentence));
    expect(check(null)).toThrowError(/got null\.$/);
  });
});

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    [0, 0],
    [250, 250],
    [1_000, 1_000],
    [60_000, 60_000],
  ])('reads %j as %d ms', (value, milliseconds) => {
    expect(parseDuration(value)).toBe(milliseconds);
  });

  it.each(['', '10', '10 s', '-1s', '1w', 's', '0.5ms', '1e3s', -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %j and says what it expected',
    (value) => {
      expect(() => parseDuration(value)).toThrow(
        `Expected a duration such as '500ms', '10s', '5m', '2h' or '1d', or a whole number of milliseconds, got`,
      );
    },
  );

  it.each([
    [60, true],
    [999, true],
    [0, false],
    [1_000, false],
    ['60', false],
  ])('of %j may be another unit in an option: %j', (value, ambiguous) => {
    expect(isAmbiguous(value)).toBe(ambiguous);
  });
});
