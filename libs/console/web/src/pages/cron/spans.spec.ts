import { describe, expect, it } from 'vitest';
import { detailOf, rangeOf, spanFor, SPANS, stepOf } from './spans.js';
import type { BackfillReport } from '../../data/types.js';
import { backfillText } from './backfill-words.js';

const SECOND = 1_000;

const HOUR = 3_600 * SECOND;

const NOW = Date.parse('2026-11-21T03:00:07.000Z');

function cronOf(periodMs: number) {
  return { cursor: new Date(NOW).toISOString(), next: new Date(NOW + periodMs).toISOString() };
}

describe('the spans of a cron', () => {
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

  it.each([
    [SECOND, ['list', 'list', '1m', '1m', '15m', '1h']],
    [60 * SECOND, ['list', 'list', 'list', 'list', '15m', '1h']],
    [HOUR, ['list', 'list', 'list', 'list', 'list', 'list']],
  ])(
    'of a cron that fires each %i ms a span is listed, or counted where it has too many instants',
    (periodMs, expected) => {
      const details = SPANS.map((span) => detailOf(span, cronOf(periodMs)));
      expect(details.map((detail) => ('bucket' in detail ? detail.bucket : 'list'))).toEqual(expected);
    },
  );

  it.each(SPANS)('the range of $text has this moment in it, and stays the same for a while', (span) => {
    const step = stepOf(span, NOW);
    const { from, to } = rangeOf(span, step);
    expect(Date.parse(from)).toBeLessThan(NOW);
    expect(Date.parse(to)).toBeGreaterThan(NOW);
    expect(Date.parse(to) - Date.parse(from)).toBe(span.ms * 1.25);
    expect(stepOf(span, NOW + 1)).toBe(step);
  });
});

const CRON = { cursor: '2026-11-21T03:00:00.000Z', state: 'active' } as const;

function report(words: Partial<BackfillReport>): BackfillReport {
  const done = { cron: 'a', dryRun: true, instants: 3, accepted: 0, left: {}, runIds: [], aborted: false };
  const open: string[] = [];
  return { ...done, open, nextFrom: null, estimateMs: null, ...words };
}

describe('the answer to a backfill', () => {
  it('counts what runs, and what is left alone by why', () => {
    const text = backfillText(report({ instants: 5, accepted: 3, left: { succeeded: 2 } }), CRON);
    expect(text).toBe('3 of 5 instants run; not repeated: 2 succeeded.');
    expect(backfillText(report({ accepted: 3 }), CRON)).toBe('3 of 3 instants run.');
  });

  it('says how long it takes, where earlier runs tell', () => {
    expect(backfillText(report({ accepted: 3, estimateMs: 90_000 }), CRON)).toContain('about 1 min 30 s.');
  });

  it.each([
    [{ ...CRON, cursor: null }, /has not fired yet: instants after its creation are left to the schedule/],
    [CRON, /Later instants are left to the schedule\.$/],
    [{ ...CRON, state: 'disabled' } as const, /should the cron fire again/],
  ])('says why nothing is made up for of what is ahead of %j', (cron, why) => {
    const text = backfillText(report({ left: { ahead: 3 } }), cron);
    expect(text).toContain('0 of 3 instants run; not repeated: 3 ahead. ');
    expect(text).toMatch(why);
  });
});
