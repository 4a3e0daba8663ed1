import type { Outcome, TimelineItem } from '../../data/types.js';
import { durationText, instantText } from '../../time/instants.js';
import { WORDS } from '../../words.js';

/** What each outcome means, in the order of the legend. */
export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  ran: 'ran on time',
  late: 'ran past its grace',
  retried: 'ran after more than one attempt',
  running: 'running',
  waiting: 'claimed, not started',
  failed: 'all attempts failed',
  uncertain: 'outcome of an effect unknown; needs an operator',
  cancelled: 'cancelled',
  skipped: 'skipped on purpose',
  merged: 'covered by another run',
  missed: 'not claimed in time',
  ahead: 'upcoming',
};

/** Strokes in a square of 16: each outcome has a shape of its own, for whoever does not tell the colours apart. */
export const SHAPES: Readonly<Record<Outcome, string>> = {
  ran: 'M4 8.5l2.5 2.5L12 5.5',
  late: 'M8 4.5V8.5h3',
  retried: 'M11.5 8a3.5 3.5 0 1 1-1.2-2.6M11.5 3.5v2.5H9',
  running: 'M6 4.5l5.5 3.5L6 11.5z',
  waiting: 'M4 8h.1M8 8h.1M12 8h.1',
  failed: 'M5 5l6 6M11 5l-6 6',
  uncertain: 'M6 6.2a2 2 0 1 1 3 1.8c-.7.4-1 .8-1 1.5M8 11.8v.1',
  cancelled: 'M5 8h6',
  skipped: 'M4.5 5l3 3-3 3M8.5 5l3 3-3 3',
  merged: 'M4.5 4.5L8 8v4M11.5 4.5L8 8',
  missed: 'M8 4v5M8 11.8v.1',
  ahead: 'M8 8h.1',
};

/** All that is known of an instant, as one line of text. */
export function lineOf(item: TimelineItem, zone: string): string {
  const { scheduledAt, until, count, outcome, reason, lateByMs, tookMs, attempt, asked } = item;
  const range = until && count > 1 ? ` to ${instantText(until, zone)} (${count} instants)` : '';
  const words = [
    asked ? WORDS.cron.asked[asked] : '',
    reason && reason !== asked ? `${outcome} (${reason})` : outcome,
    lateByMs === null ? '' : `started ${durationText(lateByMs)} after its due time`,
    tookMs === null ? '' : `took ${durationText(tookMs)}`,
    attempt > 1 ? `${attempt} attempts` : '',
  ];
  return `${instantText(scheduledAt, zone)}${range}: ${words.filter((word) => word !== '').join(', ')}`;
}
