import { expect, it } from 'vitest';
import { addressOf, asked, directionOf, sortedBy, viewIn } from './view.js';

const NOW = Date.parse('2026-11-23T12:00:30.000Z');

it('a view is what its address says, and goes back into it', () => {
  const view = viewIn('?state=failing&tag=billing&failing=24h&other=1');
  expect(view).toMatchObject({ state: 'failing', tag: 'billing', failing: '24h', search: '', sort: '' });
  expect(addressOf(view)).toBe('/?state=failing&tag=billing&failing=24h');
  expect(addressOf(viewIn(''))).toBe('/');
});

it('only what is set and known is asked', () => {
  expect(asked(viewIn('?state=asleep&sort=colour&order=up'), 50, NOW)).toEqual({ limit: 50 });
  expect(asked(viewIn('?search=a&sort=delay&order=asc&failing=1h&cursor=x'), 50, NOW)).toEqual({
    ...{ limit: 50, search: 'a', sort: 'delay', order: 'asc', cursor: 'x' },
    failingSince: '2026-11-23T11:00:00.000Z',
  });
});

it('a column sorts, the same one again turns round, and a third time is as at first', () => {
  const first = { ...viewIn('?cursor=x'), ...sortedBy(viewIn('?cursor=x'), 'delay') };
  expect(first).toMatchObject({ sort: 'delay', order: '', cursor: '' });
  expect(directionOf(first, 'delay')).toBe('descending');
  const second = { ...first, ...sortedBy(first, 'delay') };
  expect([second.order, directionOf(second, 'delay')]).toEqual(['asc', 'ascending']);
  expect(sortedBy(second, 'delay').order).toBe('');
  expect(directionOf(second, 'name')).toBeUndefined();
});

it('the worst first is the order of a list that was not sorted', () => {
  expect(directionOf(viewIn(''), 'attention')).toBe('ascending');
  expect(sortedBy(viewIn('?sort=name'), 'attention')).toEqual({ sort: '', order: '', cursor: '' });
});
