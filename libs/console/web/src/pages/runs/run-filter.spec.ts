import { describe, expect, it } from 'vitest';
import { filterOf, questionOf, withFilter } from './run-filter.js';

describe('the filter of runs', () => {
  it('is read from the address, and what is not there is empty', () => {
    expect(filterOf('?state=failed,uncertain&error=%20no%20paper&other=1')).toMatchObject({
      ...{ state: 'failed,uncertain', error: 'no paper', cron: '', cursor: '' },
    });
  });

  it('is written to the address without what is empty, and begins at the first page again', () => {
    const filter = filterOf('?state=failed&cursor=abc');
    expect(withFilter(filter, { error: 'a b' })).toBe('/runs?state=failed&error=a+b');
    expect(withFilter(filter, { cursor: 'next' })).toBe('/runs?state=failed&cursor=next');
    expect(withFilter(filter, { state: '' })).toBe('/runs');
  });

  it('is asked of the API in its units', () => {
    expect(questionOf(filterOf('?state=failed,uncertain&seconds=1.5&attempts=3&tag=eu'))).toEqual({
      ...{ limit: 50, state: ['failed', 'uncertain'], minDurationMs: 1_500, minAttempts: 3, tag: 'eu' },
    });
    expect(questionOf(filterOf(''))).toEqual({ limit: 50 });
  });
});
