import { describe, expect, it } from 'vitest';
import { describeError, shownError } from './report-failure.js';

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

  it('is bounded, and has nothing that a store could not keep', () => {
    expect(describeError('long '.repeat(1_000))).toHaveLength(2_000);
    expect(describeError('a\0b')).toBe('a\uFFFDb');
  });
});
