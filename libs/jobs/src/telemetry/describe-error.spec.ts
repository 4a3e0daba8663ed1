import { describe, expect, it } from 'vitest';
import { asError, describeError, isProgramError, isStoreError, shownError, stackLines } from './report-failure.js';

class PaymentError extends Error {
  override name = 'PaymentError';
}

describe('an error that is kept', () => {
  it('has its name and its message, without the secrets that it quotes', () => {
    const error = new PaymentError('https://pay.example/charge?api_key=kAnary answered 401');
    expect(describeError(error)).toBe('PaymentError: https://pay.example/charge?api_key=*** answered 401');
    expect(describeError('token=kAnary')).toBe('token=***');
  });

  it('has no secret in what events and the queue have of it either, be it in a field or in a cause', () => {
    const error = new PaymentError('redis://:kAnary@cache is away');
    Object.assign(error, { command: { args: ['kAnary'] }, cause: new Error('kAnary'), code: 'ECONNRESET' });
    const shown = shownError(error);
    expect(shown).toMatchObject({ name: 'PaymentError', message: 'redis://***@cache is away', code: 'ECONNRESET' });
    expect(shown.cause).toBeUndefined();
    expect(JSON.stringify([shown.stack, Object.entries(shown)])).not.toContain('kAnary');
    expect(shownError({ token: 'kAnary' }).message).toBe('[object Object]');
  });

  it('has the first errors of an AggregateError, without one that may be nothing but a secret', () => {
    const errors = [new PaymentError('refused'), new TypeError('kAnary-0123456789'), new Error('c'), new Error('d')];
    const shown = shownError(new AggregateError(errors, 'all failed'));
    expect(shown).toMatchObject({ name: 'AggregateError', message: 'all failed', errorCount: 4 });
    expect(Reflect.get(shown, 'errors')).toMatchObject([
      { name: 'PaymentError', message: 'refused' },
      { name: 'TypeError', message: '***' },
      { name: 'Error', message: 'c' },
    ]);
    expect(String(Reflect.get(shown, 'errors')[1].stack)).not.toContain('kAnary');
  });

  it('can not be read and is described all the same', () => {
    const error = Object.defineProperty(new PaymentError('x'), 'message', {
      get: () => {
        throw new Error('not readable');
      },
    });
    expect(describeError(error)).toBe('PaymentError: [unreadable]');
    expect(shownError(error)).toMatchObject({ name: 'PaymentError', message: '[unreadable]' });
    expect(() => stackLines(error)).not.toThrow();
    expect([isStoreError(error), isProgramError(error)]).toEqual([false, true]);
    expect(describeError(Object.create(null))).toBe('[object]');
    expect(asError(Object.create(null)).message).toBe('[object]');
  });

  it('is bounded, and has nothing that a store could not keep', () => {
    expect(describeError('long '.repeat(1_000))).toHaveLength(2_000);
    expect(describeError('a\0b')).toBe('a\uFFFDb');
  });
});

describe('the stack below the description of an error', () => {
  it('has the frames of the error and of each cause, with the causes named', () => {
    const cause = new TypeError('read ECONNRESET at 10.0.0.7', { cause: new Error('the disk is full') });
    const lines = stackLines(new PaymentError('refused', { cause })).split('\n');
    expect(lines[1]).toMatch(/^ {4}at .*describe-error\.spec\.ts/);
    expect(lines.filter((line) => line.startsWith('Caused by'))).toEqual([
      'Caused by: TypeError: read ECONNRESET at 10.0.0.7',
      'Caused by: Error: the disk is full',
    ]);
  });

  it('has no secret that a cause quotes, nor one that is all a cause says', () => {
    const quoted = new Error('redis://:kAnary@cache is away', { cause: new Error('kAnary-0123456789') });
    const text = stackLines(new PaymentError('no', { cause: quoted }));
    expect(text).toContain('Caused by: Error: redis://***@cache is away');
    expect(text).toContain('Caused by: Error: ***');
    expect(text).not.toContain('kAnary');
  });

  it('is bounded, ends where causes go in a circle, and is nothing for what has none', () => {
    const error = new Error('round');
    error.cause = error;
    expect(stackLines(error).split('Caused by')).toHaveLength(5);
    error.stack = `Error: round\n${'    at deep (file.js:1:1)\n'.repeat(5_000)}`;
    expect(
      stackLines(error)
        .split('\n')
        .filter((line) => line.includes('at deep')),
    ).toHaveLength(5 * 20);
    expect(stackLines(error).length).toBeLessThanOrEqual(6_001);
    expect(stackLines('a text')).toBe('');
  });
});
