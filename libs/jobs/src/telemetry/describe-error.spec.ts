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

  it('has no secret in what the queue keeps of it either', () => {
    const error = new PaymentError('redis://:kAnary@cache is away');
    Object.assign(error, { command: { args: ['kAnary'] } });
    const shown = shownError(error);
    expect([shown.name, shown.message]).toEqual(['PaymentError', 'redis://***@cache is away']);
    expect(JSON.stringify([shown.stack, Object.entries(shown)])).not.toContain('kAnary');
    expect(shownError({ token: 'kAnary' }).message).toBe('[object Object]');
  });

  it('is bounded, and has nothing that a store could not keep', () => {
    expect(describeError('long '.repeat(1_000))).toHaveLength(2_000);
    expect(describeError('a\0b')).toBe('a\uFFFDb');
  });
});
