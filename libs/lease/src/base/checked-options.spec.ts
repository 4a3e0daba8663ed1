import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkedOptions } from './checked-options.js';
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
