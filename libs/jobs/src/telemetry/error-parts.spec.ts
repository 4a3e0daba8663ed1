import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { errorParts } from './error-parts.js';

class PaymentError extends Error {
  override name = 'PaymentError';
}

/** As a library may make one: each property is computed, and computing it fails. */
function hostile(): Error {
  const error = new PaymentError('refused');
  for (const key of ['stack', 'name', 'message', 'code', 'cause', 'errors', 'errorCount', 'constructor']) {
    Object.defineProperty(error, key, {
      get: () => {
        throw new Error('not readable');
      },
    });
  }
  return error;
}

describe('errorParts', () => {
  it('has the type, the message, the code and the frames', () => {
    const error = Object.assign(new PaymentError('refused'), { code: 'ECONNREFUSED' });
    const { frames, ...parts } = errorParts(error);
    expect(parts).toEqual({ type: 'PaymentError', message: 'refused', code: 'ECONNREFUSED' });
    expect(frames[0]).toMatch(/error-parts\.spec\.ts/);
  });

  it('names an error without a name after its class', () => {
    const error = new PaymentError('refused');
    error.name = '';
    expect(errorParts(error).type).toBe('PaymentError');
  });

  it('cuts a message of 5 MB, and still has the type and the frames', () => {
    for (const text of ['x'.repeat(5_000_000), 'many words '.repeat(500_000)]) {
      const { type, message, frames } = errorParts(new PaymentError(text));
      expect(type).toBe('PaymentError');
      expect(message).toMatch(/^(x{1000}|many words many words)/);
      expect(message).toContain(`… (${text.length} characters)`);
      expect(message.length).toBeLessThan(2_100);
      expect(frames[0]).toMatch(/error-parts\.spec\.ts/);
    }
  });

  it('takes no line of a message for a frame', () => {
    const error = new Error('no\n    at forged (file.js:1:1)\nreally');
    const { frames } = errorParts(error);
    expect(frames.join('\n')).not.toContain('forged');
    expect(frames[0]).toMatch(/error-parts\.spec\.ts/);
  });

  it('keeps at most twenty frames, each of a bounded length', () => {
    const error = new Error('deep');
    error.stack = `Error: deep\n${`    at ${'deep'.repeat(1_000)} (file.js:1:1)\n`.repeat(1_000)}`;
    const { frames } = errorParts(error);
    expect(frames).toHaveLength(20);
    expect(Math.max(...frames.map(({ length }) => length))).toBeLessThanOrEqual(300);
  });

  it('shows the first errors of an AggregateError, and how many it has', () => {
    const errors = Array.from({ length: 100 }, (_, n) => new TypeError(`no ${n}`));
    const parts = errorParts(new AggregateError(errors, 'all failed'));
    expect(parts).toMatchObject({ type: 'AggregateError', message: 'all failed', errorCount: 100 });
    expect(parts.errors?.map(({ type, message }) => `${type}: ${message}`)).toEqual([
      'TypeError: no 0',
      'TypeError: no 1',
      'TypeError: no 2',
    ]);
    expect(errorParts(Object.assign(new Error('invalid'), { errors: [{ path: 'a' }] })).errors).toBeUndefined();
  });

  it('ends where causes and errors go in a circle', () => {
    const error: AggregateError = new AggregateError([], 'round');
    error.cause = error;
    error.errors.push(error, error, error);
    expect(JSON.stringify(errorParts(error)).length).toBeLessThan(100_000);
  });

  it('reads an error whose getters throw', () => {
    expect(errorParts(hostile())).toEqual({ type: 'Error', message: '[unreadable]', frames: [] });
    expect(errorParts(Object.create(null))).toEqual({ type: 'object', message: '[object]', frames: [] });
  });

  it('knows an error of another realm', () => {
    const foreign: unknown = runInNewContext('new RangeError("elsewhere")');
    expect(foreign).not.toBeInstanceOf(Error);
    expect(errorParts(foreign)).toMatchObject({ type: 'RangeError', message: 'elsewhere' });
  });

  it('shows no secret of a message, a frame or a cause', () => {
    const cause = new Error('redis://:kAnary@cache is away');
    const error = new Error('token=kAnary', { cause });
    error.stack = 'Error: token=kAnary\n    at https://u:kAnary@host/a.js:1:1';
    const text = JSON.stringify(errorParts(error));
    expect(text).toContain('redis://***@cache is away');
    expect(text).not.toContain('kAnary');
  });
});
