import type { CronSummary } from '../../data/types.js';
import type { CalendarView } from './calendar.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface Span {
  readonly key: string;
  readonly ms: number;
  readonly view: CalendarView;
}

export const SPANS: readonly Span[] = [
  { key: '5m', ms: 5 * MINUTE, view: 'minute' },
  { key: '1h', ms: HOUR, view: 'minute' },
  { key: '6h', ms: 6 * HOUR, view: 'hour' },
  { key: '1d', ms: DAY, view: 'hour' },
  { key: '7d', ms: 7 * DAY, view: 'day' },
  { key: '30d', ms: 30 * DAY, view: 'month' },
];

/** Of each view, so many instants are listed; more of them are counted in parts that no column of the view divides in any zone. */
const LISTED = { minute: 5_000, hour: 2_000, day: 2_000, month: 5_000 };
const COUNTED = { minute: '1m', hour: '1m', day: '15m', month: '1h' } as const;
const MAX_ITEMS = 5_000;

/** How the instants of a span are asked for: those of a dense cron are counted, as there are more than a page can show. */
export function detailOf(span: Span, { next, cursor }: Pick<CronSummary, 'next' | 'cursor'>) {
  const period = next === null || cursor === null ? Infinity : Math.max(1, Date.parse(next) - Date.parse(cursor));
  if (span.ms / period <= LISTED[span.view]) return { limit: LISTED[span.view] };
  return { limit: MAX_ITEMS, bucket: COUNTED[span.view] };
}

const MAX_LENGTH: Span = { key: '30d', ms: 30 * DAY, view: 'month' };
const WANTED_INSTANTS = 30;

/** The shortest span with some thirty instants: of a cron of each second the last minutes, of a nightly one the month. */
export function spanFor({ next, cursor }: Pick<CronSummary, 'next' | 'cursor'>): Span {
  if (next === null || cursor === null) return SPANS[4] ?? MAX_LENGTH;
  const period = Date.parse(next) - Date.parse(cursor);
  return SPANS.find(({ ms }) => ms >= WANTED_INSTANTS * period) ?? MAX_LENGTH;
}

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** A little of the future as well. Moves in steps, so that the same question is asked for a while. */
export function rangeOf({ ms }: Span, step: number): Range {
  const end = (step + 1) * stepMs(ms);
  return { from: new Date(end - ms).toISOString(), to: new Date(end + ms / 4).toISOString() };
}

export function stepOf({ ms }: Span, now: number): number {
  return Math.floor(now / stepMs(ms));
}

function stepMs(ms: number): number {
  return Math.max(10_000, ms / 60);
}
