import type { Outcome, TimelineItem } from '../../data/types.js';
import { durationText, instantText } from '../../time/instants.js';
import { WORDS } from '../../words.js';

const { home, cron: words } = WORDS;

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
  const range = until && count > 1 ? words.range(instantText(until, zone), count) : '';
  const parts = [
    asked ? words.asked[asked] : '',
    reason && reason !== asked ? `${outcome} (${reason})` : outcome,
    lateByMs === null ? '' : home.started(durationText(lateByMs)),
    tookMs === null ? '' : home.took(durationText(tookMs)),
    attempt > 1 ? words.attempts(attempt) : '',
  ];
  return `${instantText(scheduledAt, zone)}${range}: ${parts.filter((part) => part !== '').join(', ')}`;
}
