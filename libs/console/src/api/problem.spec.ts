import { describe, expect, it } from 'vitest';
import { problemOf } from './problem.js';

describe('a store that does not answer the API', () => {
  const away = Object.assign(new Error('read'), { code: 'ECONNRESET' });

  it('may have carried out an order', () => {
    expect(problemOf(away, true).detail).toMatch(/The order may have taken effect/);
  });

  it('was only read by a read', () => {
    expect(problemOf(away).detail).toBe('The store did not answer in time. Retry when it answers.');
  });
});
