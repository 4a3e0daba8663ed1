import { describe, expect, it } from 'vitest';
import type { TimelineItem } from '../../data/types.js';
import { bucketOf, bucketsOf, percentile } from './percentiles.js';

const DAY = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };

function item(minute: number, tookMs: number | null, words: Partial<TimelineItem> = {}): TimelineItem {
  const scheduledAt = new Date(Date.parse(DAY.from) + minute * 60_000).toISOString();
  const nothing = { until: null, count: 1, reason: null, runId: null, attempt: 1, asked: null };
  return { scheduledAt, outcome: 'ran', lateByMs: 10, ...nothing, tookMs, ...words };
}

describe('percentiles', () => {
  it.each([
    [[], 50, null],
    [[7], 99, 7],
    [[1, 2, 3, 4], 50, 2],
    [Array.from({ length: 100 }, (_, n) => 100 - n), 95, 95],
    [Array.from({ length: 100 }, (_, n) => n + 1), 99, 99],
  ])('of %j, %i: %j', (values, of, expected) => {
    expect(percentile(values, of)).toBe(expected);
  });

  it('are those of each half hour of a day, where runs have ended', () => {
    const buckets = bucketsOf([item(0, 100), item(29, 300), item(30, 50), item(60, null)], DAY);
    expect(buckets.map(({ runs, p50, p95 }) => [runs, p50, p95])).toEqual([
      [2, 100, 300],
      [1, 50, 50],
    ]);
  });

  it('leave the delay of runs out that somebody asked for', () => {
    const asked = item(1, 5, { asked: 'backfill', lateByMs: 9_000_000 });
    expect(bucketOf([item(0, 5), asked])).toMatchObject({ delayP95: 10, runs: 2 });
    expect(bucketOf([asked]).delayP95).toBeNull();
  });
});
