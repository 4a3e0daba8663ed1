import type { TimelineItem } from '../../data/types.js';

/** What so many of a hundred stay within; `null` of nothing. */
export function percentile(values: readonly number[], of: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((of / 100) * sorted.length) - 1)] ?? null;
}

/** How long runs took and how late they began in a part of the range. */
export interface Bucket {
  /** Its first instant. */
  readonly at: string;
  readonly runs: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  /** Of the runs of the schedule alone: nobody was waiting for the others. */
  readonly delayP95: number | null;
}

const MAX_BUCKETS = 48;

/** The range in at most {@link MAX_BUCKETS} parts; those without a run that has ended are left out. */
export function bucketsOf(
  items: readonly TimelineItem[],
  { from, to }: { readonly from: string; readonly to: string },
): Bucket[] {
  const ended = items.filter(({ tookMs }) => tookMs !== null);
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const size = Math.max(1, (end - begin) / MAX_BUCKETS);
  const parts = new Map<number, TimelineItem[]>();
  for (const item of ended) {
    const part = Math.floor((Date.parse(item.scheduledAt) - begin) / size);
    parts.set(part, [...(parts.get(part) ?? []), item]);
  }
  return [...parts].toSorted(([a], [b]) => a - b).map(([, some]) => bucketOf(some));
}

export function bucketOf(items: readonly TimelineItem[]): Bucket {
  const took = items.flatMap(({ tookMs }) => (tookMs === null ? [] : [tookMs]));
  const late = items.flatMap(({ lateByMs, asked }) => (lateByMs === null || asked !== null ? [] : [lateByMs]));
  const [p50, p95, p99] = [50, 95, 99].map((of) => percentile(took, of));
  return {
    ...{ at: items[0]?.scheduledAt ?? '', runs: items.length, delayP95: percentile(late, 95) },
    ...{ p50: p50 ?? null, p95: p95 ?? null, p99: p99 ?? null },
  };
}
