import { describe, expect, it } from 'vitest';
import { rangeOf, spanFor, SPANS, stepOf } from './spans.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const NOW = Date.parse('2026-11-21T03:00:07.000Z');

function cronOf(periodMs: number) {
  return { cursor: new Date(NOW).toISOString(), next: new Date(NOW + periodMs).toISOString() };
}

describe('the time that is shown first', () => {
  it.each([
    [SECOND, '5m'],
    [60 * SECOND, '1h'],
    [HOUR, '7d'],
    [24 * HOUR, '30d'],
    [24 * 365 * HOUR, '30d'],
  ])('of a cron that fires each %i ms is %s', (periodMs, key) => {
    expect(spanFor(cronOf(periodMs)).key).toBe(key);
  });

  it('of a cron that does not fire is a week', () => {
    expect(spanFor({ cursor: null, next: null }).key).toBe('7d');
  });
});

it.each(SPANS)('the range of $text has this moment in it, and stays the same for a while', (span) => {
  const step = stepOf(span, NOW);
  const { from, to } = rangeOf(span, step);
  expect(Date.parse(from)).toBeLessThan(NOW);
  expect(Date.parse(to)).toBeGreaterThan(NOW);
  expect(Date.parse(to) - Date.parse(from)).toBe(span.ms * 1.25);
  expect(stepOf(span, NOW + 1)).toBe(step);
});
